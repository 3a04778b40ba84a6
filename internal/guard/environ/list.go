package environ

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// List is the environment of one child. Only a Policy makes one; the zero List is empty. It never prints its values, is safe
// for concurrent use and may be copied.
//
// The variables sit behind a func so that no printer reaches them by reflection.
type List struct {
	reveal func() content
}

type content struct {
	vars   map[string]string
	absent []string
}

func newList(vars map[string]string, absent []string) List {
	c := content{vars, absent}
	return List{reveal: func() content { return c }}
}

func (l List) content() content {
	if l.reveal == nil {
		return content{}
	}
	return l.reveal()
}

// Strings returns NAME=value for each variable, sorted by name: what execve takes. The slice is the caller's.
func (l List) Strings() []string {
	vars := l.content().vars
	out := make([]string, 0, len(vars))
	for _, name := range l.Names() {
		out = append(out, name+"="+vars[name])
	}
	return out
}

// Names returns the sorted names.
func (l List) Names() []string { return slices.Sorted(maps.Keys(l.content().vars)) }

// Lookup returns a variable's value and whether it is set.
func (l List) Lookup(name string) (string, bool) {
	value, ok := l.content().vars[name]
	return value, ok
}

// Len returns the number of variables.
func (l List) Len() int { return len(l.content().vars) }

// Absent returns the sorted names that were declared but have no value for this child. A kept shell has to unset them before
// the command, so that the value of an earlier profile does not stay.
func (l List) Absent() []string { return slices.Clone(l.content().absent) }

// Since returns what is other than in base: the variables that it lacks or has with another value, and as absent those of base that
// are not there any more. Over whatever became of base meanwhile, it makes what the policy says now, and leaves the rest alone.
func (l List) Since(base List) List {
	now, then := l.content(), base.content()
	vars, absent := map[string]string{}, slices.Clone(now.absent)
	for name, value := range now.vars {
		if old, ok := then.vars[name]; !ok || old != value {
			vars[name] = value
		}
	}
	for name := range then.vars {
		if _, still := now.vars[name]; !still && !slices.Contains(absent, name) {
			absent = append(absent, name)
		}
	}
	slices.Sort(absent)
	return newList(vars, absent)
}

func (l List) mask() string { return fmt.Sprintf("[environment of %d variables]", l.Len()) }

// String tells how many variables there are.
func (l List) String() string { return l.mask() }

// GoString tells how many variables there are.
func (l List) GoString() string { return l.mask() }

// Format writes how many variables there are, under every verb and flag.
func (l List) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, l.mask()) }

// MarshalText gives encoders how many variables there are.
func (l List) MarshalText() ([]byte, error) { return []byte(l.mask()), nil }
