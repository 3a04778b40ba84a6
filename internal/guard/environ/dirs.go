package environ

import (
	"path"
	"strconv"
	"strings"
)

// Entry is one thing below a directory.
type Entry struct {
	Path string // below the directory, with slashes
	Link bool   // a symbolic link
	File bool   // an ordinary file
}

// DirMount decides how a directory of skills is shown: as it is when nothing in it is a link, else as a copy of its ordinary
// files without the links, and without anything that lies behind one.
func DirMount(host, inside string, entries []Entry) Mount {
	m := Mount{Host: host, Inside: inside}
	links := map[string]bool{}
	for _, e := range entries {
		if e.Link {
			m.Copy = true
			links[path.Clean(e.Path)] = true
		}
	}
	if !m.Copy {
		return m
	}
	for _, e := range entries {
		if e.File && !e.Link && !behind(links, path.Clean(e.Path)) {
			m.Only = append(m.Only, e.Path)
		}
	}
	return m
}

// behind tells whether a path leads out of the directory or through a link.
func behind(links map[string]bool, name string) bool {
	if path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") {
		return true
	}
	for dir := name; dir != "."; dir = path.Dir(dir) {
		if links[dir] {
			return true
		}
	}
	return false
}

// SkillPlaces returns where the profile's skills and those of other directories appear inside.
func SkillPlaces(home, base string, external []string) []Mount {
	out := []Mount{{Host: join(home, "skills"), Inside: join(base, "skills")}}
	for i, dir := range external {
		out = append(out, Mount{Host: dir, Inside: join(base, "external_skills/"+strconv.Itoa(i))})
	}
	return out
}

// cacheDirs are the caches that are shown, under the name they have now and the one they once had.
var cacheDirs = [...]struct{ now, once string }{
	{"cache/documents", "document_cache"},
	{"cache/images", "image_cache"},
	{"cache/audio", "audio_cache"},
	{"cache/videos", "video_cache"},
	{"cache/screenshots", "browser_screenshots"},
	{"cache/web", "web_cache"},
	{"cache/delegation", "delegation_cache"},
	{"images", ""},
}

// CacheMounts returns the caches to show. look says whether a path below the home is a directory of its own (a link is none)
// and whether anything is in it. An old name counts while it has content; inside, the new one is used.
func CacheMounts(home, base string, look func(rel string) (exists, filled bool)) []Mount {
	var out []Mount
	for _, dir := range cacheDirs {
		from := dir.now
		exists, _ := look(dir.now)
		if dir.once != "" {
			if old, filled := look(dir.once); old && filled {
				from, exists = dir.once, true
			}
		}
		if exists {
			out = append(out, Mount{Host: join(home, from), Inside: join(base, dir.now)})
		}
	}
	return out
}
