package image

import (
	"bufio"
	"debug/elf"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// binary is what a library must have in common with the program that loads it.
type binary struct {
	class   elf.Class
	machine elf.Machine
	interp  string
}

// loads adds what a file needs to run: the loader and libraries of a program, the interpreter of a script. Files that are neither
// need nothing.
func (t *Tree) loads(p string) error {
	f, err := elf.Open(t.on(p))
	if err != nil {
		return t.script(p)
	}
	defer f.Close()
	if t.binary == nil {
		t.binary = &binary{class: f.Class, machine: f.Machine}
	}
	if f.Machine != t.binary.machine || f.Class != t.binary.class {
		return nil // for another kind of machine; nothing here loads it
	}
	for _, prog := range f.Progs {
		if prog.Type != elf.PT_INTERP {
			continue
		}
		text := make([]byte, min(prog.Filesz, 4096))
		if _, err := prog.ReadAt(text, 0); err != nil {
			return err
		}
		interp := strings.TrimRight(string(text), "\x00")
		if t.binary.interp == "" {
			t.binary.interp = interp
		}
		if err := t.add(interp); err != nil {
			return err
		}
	}
	needed, err := f.ImportedLibraries()
	if err != nil {
		return nil // a static program
	}
	search := runPaths(f, path.Dir(p))
	for _, lib := range needed {
		at := t.library(lib, search)
		if at == "" {
			t.Notes = append(t.Notes, p+" may not run: "+lib+" was not found")
			continue
		}
		if err := t.add(at); err != nil {
			return err
		}
	}
	return nil
}

// runPaths returns where a file itself says its libraries are.
func runPaths(f *elf.File, origin string) (out []string) {
	dirs, _ := f.DynString(elf.DT_RUNPATH)
	if len(dirs) == 0 {
		dirs, _ = f.DynString(elf.DT_RPATH)
	}
	for _, list := range dirs {
		for dir := range strings.SplitSeq(list, ":") {
			dir = strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(dir)
			if path.IsAbs(dir) {
				out = append(out, path.Clean(dir))
			}
		}
	}
	return out
}

// library finds a library by name: where the program says, then where the loader looks.
func (t *Tree) library(name string, search []string) string {
	if strings.Contains(name, "/") {
		if t.readable(name) {
			return name
		}
		return ""
	}
	for _, dir := range search {
		if at := path.Join(dir, name); t.fits(at) {
			return at
		}
	}
	for _, dir := range t.loaderDirs() {
		if at := path.Join(dir, name); t.fits(at) {
			return at
		}
	}
	if t.conf == nil {
		t.conf = append([]string{}, t.configured("/etc/ld.so.conf", 0)...)
	}
	for _, dir := range t.conf {
		if at := path.Join(dir, name); t.fits(at) {
			if !slices.Contains(t.libraries, dir) {
				t.libraries = append(t.libraries, dir)
			}
			return at
		}
	}
	return ""
}

// loaderDirs are the folders that a loader knows without being told.
func (t *Tree) loaderDirs() []string {
	out := []string{"/lib64", "/usr/lib64", "/lib", "/usr/lib"}
	if triplet := t.triplet(); triplet != "" {
		out = append([]string{"/lib/" + triplet, "/usr/lib/" + triplet}, out...)
	}
	if t.binary != nil && strings.HasPrefix(t.binary.interp, "/lib/ld-musl-") {
		out = append(out, "/usr/local/lib")
	}
	return out
}

// triplet is the name of Debian's folder for libraries of one kind of machine.
func (t *Tree) triplet() string {
	if t.binary == nil {
		return ""
	}
	switch t.binary.machine {
	case elf.EM_X86_64:
		return "x86_64-linux-gnu"
	case elf.EM_AARCH64:
		return "aarch64-linux-gnu"
	case elf.EM_386:
		return "i386-linux-gnu"
	case elf.EM_ARM:
		return "arm-linux-gnueabihf"
	case elf.EM_RISCV:
		return "riscv64-linux-gnu"
	case elf.EM_PPC64:
		return "powerpc64le-linux-gnu"
	case elf.EM_S390:
		return "s390x-linux-gnu"
	}
	return ""
}

// fits tells whether a file is a library for the image's kind of machine.
func (t *Tree) fits(p string) bool {
	if !t.readable(p) {
		return false
	}
	_, end, _, err := t.follow(p)
	if err != nil {
		return false
	}
	f, err := elf.Open(t.on(end))
	if err != nil {
		return false
	}
	defer f.Close()
	return t.binary == nil || f.Machine == t.binary.machine && f.Class == t.binary.class
}

// configured reads the folders in ld.so.conf.
func (t *Tree) configured(name string, depth int) (out []string) {
	text, err := os.ReadFile(t.on(name))
	if err != nil || depth > 4 {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if pattern, ok := strings.CutPrefix(line, "include "); ok {
			pattern = strings.TrimSpace(pattern)
			if !path.IsAbs(pattern) {
				pattern = path.Join(path.Dir(name), pattern)
			}
			found, _ := filepath.Glob(t.on(pattern))
			slices.Sort(found)
			for _, file := range found {
				if rel, err := filepath.Rel(t.root, file); err == nil {
					out = append(out, t.configured("/"+filepath.ToSlash(rel), depth+1)...)
				}
			}
			continue
		}
		if path.IsAbs(line) {
			out = append(out, path.Clean(line))
		}
	}
	return out
}

// script adds the interpreter that a script names.
func (t *Tree) script(p string) error {
	f, err := os.Open(t.on(p))
	if err != nil {
		return err
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, 256).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "#!") {
		return nil
	}
	words := strings.Fields(line[2:])
	if len(words) > 0 && t.readable(words[0]) {
		return t.add(words[0])
	}
	return nil
}
