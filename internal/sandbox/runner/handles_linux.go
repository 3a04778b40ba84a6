package runner

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

func after(d time.Duration, f func()) { time.AfterFunc(d, f) }

// handles are the files a connection has open inside. What a client reads or writes is what it opened, whatever happens to
// the name meanwhile.
type handles struct {
	mu   sync.Mutex
	last uint64
	all  map[uint64]*handle
	over bool
}

type handle struct {
	mu   sync.Mutex
	f    *os.File
	dir  int    // of a file that is being written; -1
	temp string // its name until it is whole
	name string
}

// maxHandles bounds the files a client has open.
const maxHandles = 256

// work returns what answers a question about files.
func (h *handles) work(what uint8, r *reader) (func() ([]byte, error), error) {
	var f func() ([]byte, error)
	switch what {
	case askOpen:
		name := r.str()
		f = func() ([]byte, error) { return h.open(name) }
	case askRead:
		id, at, size := r.num(), r.num(), r.num()
		f = func() ([]byte, error) { return h.read(id, int64(at), min(size, piece)) }
	case askCreate:
		name, mode := r.str(), fs.FileMode(r.num())
		f = func() ([]byte, error) { return h.create(name, mode.Perm()) }
	case askWrite:
		id, text := r.num(), r.raw()
		f = func() ([]byte, error) { return nil, h.write(id, text) }
	case askCommit:
		id := r.num()
		f = func() ([]byte, error) { return nil, h.commit(id) }
	case askClose:
		id := r.num()
		f = func() ([]byte, error) { h.drop(id); return nil, nil }
	case askStat:
		name := r.str()
		f = func() ([]byte, error) { return stat(name) }
	case askList:
		name := r.str()
		f = func() ([]byte, error) { return list(name) }
	default:
		return nil, fmt.Errorf("unknown question %d", what)
	}
	if err := r.done(); err != nil {
		return nil, fmt.Errorf("question %d: %w", what, err)
	}
	return f, nil
}

var errAbsolute = errors.New("the path is not absolute")

func (h *handles) keep(one *handle) (uint64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || len(h.all) >= maxHandles {
		one.discard()
		return 0, fmt.Errorf("more than %d open files", maxHandles)
	}
	if h.all == nil {
		h.all = map[uint64]*handle{}
	}
	h.last++
	h.all[h.last] = one
	return h.last, nil
}

func (h *handles) find(id uint64) (*handle, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if one := h.all[id]; one != nil {
		return one, nil
	}
	return nil, fs.ErrClosed
}

// open opens an ordinary file to be read.
func (h *handles) open(name string) ([]byte, error) {
	if !path.IsAbs(name) {
		return nil, errAbsolute
	}
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not an ordinary file")
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	id, err := h.keep(&handle{f: f, dir: -1})
	if err != nil {
		return nil, err
	}
	w := writer{}
	w.num(id)
	encodeInfo(&w, info)
	return w.b, nil
}

func (h *handles) read(id uint64, at int64, size uint64) ([]byte, error) {
	one, err := h.find(id)
	if err != nil {
		return nil, err
	}
	text := make([]byte, size)
	n, err := one.f.ReadAt(text, at)
	if err != nil && err != io.EOF {
		return nil, err
	}
	w := writer{}
	w.raw(text[:n])
	return w.b, nil
}

// create begins a file under another name, in the directory that was opened. A link is never followed or replaced.
func (h *handles) create(name string, mode fs.FileMode) ([]byte, error) {
	if !path.IsAbs(name) {
		return nil, errAbsolute
	}
	dir, base := path.Split(path.Clean(name))
	if base == "" {
		return nil, unix.EISDIR
	}
	at, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	one := &handle{dir: at, name: base}
	if err := one.mayReplace(); err != nil {
		_ = unix.Close(at)
		return nil, err
	}
	for range 100 {
		temp := "." + strconv.FormatUint(rand.Uint64(), 36) + ".part"
		fd, err := unix.Openat(at, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if err == unix.EEXIST {
			continue
		} else if err != nil {
			_ = unix.Close(at)
			return nil, err
		}
		one.f, one.temp = os.NewFile(uintptr(fd), name), temp
		if err := one.f.Chmod(mode); err != nil {
			one.discard()
			return nil, err
		}
		id, err := h.keep(one)
		w := writer{}
		w.num(id)
		return w.b, err
	}
	_ = unix.Close(at)
	return nil, unix.EEXIST
}

// mayReplace refuses what is there and is no ordinary file.
func (one *handle) mayReplace() error {
	var st unix.Stat_t
	err := unix.Fstatat(one.dir, one.name, &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case err == unix.ENOENT:
		return nil
	case err != nil:
		return err
	case st.Mode&unix.S_IFMT == unix.S_IFLNK:
		return unix.ELOOP
	case st.Mode&unix.S_IFMT == unix.S_IFDIR:
		return unix.EISDIR
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return errors.New("not an ordinary file")
	}
	return nil
}

func (h *handles) write(id uint64, text []byte) error {
	one, err := h.find(id)
	if err != nil {
		return err
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	_, err = one.f.Write(text)
	return err
}

// commit gives a file its name once all of it is on the disk.
func (h *handles) commit(id uint64) error {
	one, err := h.find(id)
	if err != nil {
		return err
	}
	defer h.drop(id)
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.temp == "" {
		return errors.New("the file was opened to be read")
	}
	if err := one.f.Sync(); err != nil {
		return err
	}
	if err := one.mayReplace(); err != nil {
		return err
	}
	if err := unix.Renameat(one.dir, one.temp, one.dir, one.name); err != nil {
		return err
	}
	one.temp = ""
	if dir, err := unix.Openat(one.dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err == nil {
		_ = unix.Fsync(dir)
		_ = unix.Close(dir)
	}
	return nil
}

func (h *handles) drop(id uint64) {
	h.mu.Lock()
	one := h.all[id]
	delete(h.all, id)
	h.mu.Unlock()
	if one != nil {
		one.discard()
	}
}

// discard closes a handle; a file that is not whole is removed.
func (one *handle) discard() {
	if one.f != nil {
		_ = one.f.Close()
	}
	if one.dir >= 0 {
		if one.temp != "" {
			_ = unix.Unlinkat(one.dir, one.temp, 0)
		}
		_ = unix.Close(one.dir)
	}
}

func (h *handles) close() {
	h.mu.Lock()
	all := h.all
	h.all, h.over = nil, true
	h.mu.Unlock()
	for _, one := range all {
		one.discard()
	}
}

func stat(name string) ([]byte, error) {
	if !path.IsAbs(name) {
		return nil, errAbsolute
	}
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	w := writer{}
	encodeInfo(&w, info)
	return w.b, nil
}

// maxList bounds the entries of a listing.
const maxList = 50_000

func list(name string) ([]byte, error) {
	if !path.IsAbs(name) {
		return nil, errAbsolute
	}
	dir, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	all, err := dir.Readdir(maxList)
	if err != nil && err != io.EOF {
		return nil, err
	}
	w := writer{}
	w.num(uint64(len(all)))
	for _, info := range all {
		encodeInfo(&w, info)
	}
	return w.b, nil
}

func encodeInfo(w *writer, info fs.FileInfo) {
	w.str(info.Name())
	w.num(uint64(info.Size()))
	w.num(uint64(info.Mode()))
	w.num(uint64(info.ModTime().UnixNano()))
}
