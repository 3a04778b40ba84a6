package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"hermes/internal/config"
	"hermes/internal/guard/environ"
	"hermes/internal/home"
	"hermes/internal/vectortest"
)

// row is one of the shared cases about the command line. The other rows of that file are about what happens to a container, and
// are answered by the backend.
type row struct {
	ID    string
	Input struct {
		Raw, Profile, Shm *string
		Task              *string  `json:"task_id"`
		Tasks             []string `json:"task_ids"`
		Key               *string  `json:"shared_container_key"`
		Keys              []string
		Forward           []string          `json:"docker_forward_env"`
		Process           map[string]string `json:"process_env"`
		Dotenv            map[string]string
		Env               map[string]any `json:"docker_env"`
		EnvKey            *string        `json:"docker_env_key"`
		AsHostUser        *bool          `json:"run_as_host_user"`
		UID, GID          int
		ShmSize           *string                           `json:"docker_shm_size"`
		Extra             []any                             `json:"docker_extra_args"`
		Persistent        *bool                             `json:"container_persistent"`
		Across            *bool                             `json:"docker_persist_across_processes"`
		Override          map[string]string                 `json:"task_override"`
		Credential        *struct{ Host, Container string } `json:"credential_mount"`
	}
	Expected map[string]any
}

// asked turns a row's input into settings.
func (r row) asked() (Settings, Facts) {
	s, f := settings(), facts()
	in := r.Input
	server := map[string]string{}
	for name, v := range in.Env {
		if text, ok := v.(string); ok {
			server[name] = text
		}
	}
	if in.EnvKey != nil {
		server[*in.EnvKey] = "value"
	}
	s.Env, _ = environ.New(environ.Config{Forward: in.Forward}).Build(environ.Request{Surface: environ.Docker, Base: in.Process, Profile: in.Dotenv, Server: server})
	s.InitEnv, s.Forward = slices.Collect(maps.Keys(server)), in.Forward
	for to, from := range map[*string]*string{&s.Task: in.Task, &s.Profile: in.Profile, &s.SharedKey: in.Key, &s.Shm: in.ShmSize} {
		if from != nil {
			*to = *from
		}
	}
	for to, from := range map[*bool]*bool{&s.AsHostUser: in.AsHostUser, &s.Persistent: in.Persistent, &s.Across: in.Across} {
		if from != nil {
			*to = *from
		}
	}
	if in.UID != 0 {
		f.UID, f.GID = in.UID, in.GID
	}
	s.Override = len(in.Override) > 0
	s.ExtraArgs = texts(in.Extra)
	if c := in.Credential; c != nil {
		s.Credentials = []Showing{{Source: "/home/u/.hermes/google_token.json", Target: c.Container}} // look says that everything is a directory
	}
	return s, f
}

// texts leaves out what is no text, as the settings do.
func texts(list []any) (out []string) {
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func TestVectors(t *testing.T) {
	for _, r := range vectortest.Rows[row](t, "testdata/docker_args.jsonl") {
		t.Run(r.ID, func(t *testing.T) {
			s, f := r.asked()
			p, err := New(s, f)
			if err != nil {
				t.Fatal(err)
			}
			for what, want := range r.Expected {
				if got, ok := r.answer(t, p, s, what, want); !ok {
					t.Errorf("%s: got %v, want %v", what, got, want)
				}
			}
		})
	}
}

// answer compares one expectation with a plan. The command lines of a container are that of `run` and that of `exec`: what
// commands get is handed on by the second, so that the engine does not keep it.
func (r row) answer(t *testing.T, p Plan, s Settings, what string, want any) (got any, ok bool) {
	lines := slices.Concat(p.Run, p.Exec)
	list := func() []string { items, _ := want.([]any); return texts(items) }
	pair := func(a, b string) bool {
		return slices.ContainsFunc(slices.Collect(windows(lines)), func(w [2]string) bool { return w == [2]string{a, b} })
	}
	text, _ := want.(string)
	dir := taskDir(s.Task)
	switch what {
	case "argv_has":
		return lines, !slices.ContainsFunc(list(), func(a string) bool { return !slices.Contains(lines, a) })
	case "argv_pair":
		return lines, pair(list()[0], list()[1])
	case "argv_lacks":
		return lines, !slices.ContainsFunc(list(), func(a string) bool { return slices.Contains(lines, a) })
	case "argv_lacks_value", "argv_lacks_text":
		return lines, !strings.Contains(strings.Join(lines, "\n"), text)
	case "argv_lacks_values":
		return lines, !slices.ContainsFunc(list(), func(a string) bool { return strings.Contains(strings.Join(lines, "\n"), a) })
	case "client_env":
		for name, v := range want.(map[string]any) {
			if got, _ := p.ClientEnv.Lookup(name); got != v {
				return got, false
			}
		}
		return nil, true
	case "kept":
		return lines, pair("-e", *r.Input.EnvKey) == want
	case "cap_add_has":
		return lines, !slices.ContainsFunc(list(), func(c string) bool { return !pair("--cap-add", c) })
	case "label":
		return p.Labels, pair("--label", text)
	case "label_value":
		got := LabelValue(*r.Input.Raw)
		return got, got == want
	case "label_value_len":
		got := len(LabelValue(*r.Input.Raw))
		return got, float64(got) == want
	case "dir_name":
		return dir, dir == want
	case "dir_name_lacks_chars":
		return dir, !strings.ContainsAny(dir, text)
	case "dir_name_len_between":
		between := want.([]any)
		return len(dir), float64(len(dir)) >= between[0].(float64) && float64(len(dir)) <= between[1].(float64)
	case "dir_name_not_in":
		return dir, !slices.Contains(list(), dir)
	case "distinct_root_sources":
		seen := map[string]bool{}
		for _, task := range r.Input.Tasks {
			s.Task = task
			p := must(t, s, facts())
			for _, m := range p.Mounts {
				if m.Target == Home {
					seen[m.Source] = true
				}
			}
		}
		return len(seen), float64(len(seen)) == want
	case "profile_label":
		return p.Labels, p.Labels[LabelProfile] == want
	case "profile_label_prefix":
		return p.Labels, strings.HasPrefix(p.Labels[LabelProfile], text)
	case "not_equal":
		return p.Labels, p.Labels[LabelProfile] != want
	case "deterministic":
		return p.Labels, must(t, s, facts()).Labels[LabelProfile] == p.Labels[LabelProfile]
	case "labels_differ":
		a, b := profileLabel("p", r.Input.Keys[0]), profileLabel("p", r.Input.Keys[1])
		return a, a != b
	case "max_len":
		got := max(len(profileLabel("p", r.Input.Keys[0])), len(profileLabel("p", r.Input.Keys[1])))
		return got, float64(got) <= want.(float64)
	case "warning_contains":
		return p.Notes, strings.Contains(strings.Join(p.Notes, "\n"), text)
	case "sets_shm":
		got := !strings.Contains(strings.Join(p.Run, " "), "--shm-size "+s.Shm)
		return got, got == want
	case "shm_flag_count":
		got := strings.Count(strings.Join(p.Run, " "), "--shm-size")
		return got, float64(got) == want
	case "value":
		return lines, pair("--shm-size", text)
	case "persist_across_processes":
		return p.Reuse, p.Reuse == want
	}
	return r.settled(t, what, text)
}

// settled answers what the settings decide: a value that is no text is an error there, which never shows the value.
func (r row) settled(t *testing.T, what, text string) (got any, ok bool) {
	dir, err := home.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(map[string]any{"terminal": map[string]any{"docker_env": r.Input.Env}})
	if err != nil {
		t.Fatal(err)
	}
	err = config.New(dir, func(string) string { return "" }).Check(file)
	if err == nil {
		return "no error", false
	}
	switch what {
	case "log_contains":
		return err, strings.Contains(err.Error(), text)
	case "log_lacks":
		return err, !strings.Contains(err.Error(), text)
	}
	return "nothing answers " + what, false
}

func must(t *testing.T, s Settings, f Facts) Plan {
	t.Helper()
	p, err := New(s, f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// windows yields each two arguments that follow each other.
func windows(list []string) func(func([2]string) bool) {
	return func(yield func([2]string) bool) {
		for i := range len(list) - 1 {
			if !yield([2]string{list[i], list[i+1]}) {
				return
			}
		}
	}
}
