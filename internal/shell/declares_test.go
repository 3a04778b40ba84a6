package shell

import "testing"

func TestDeclares(t *testing.T) {
	for text, want := range map[string]string{
		"f () \n{ \n    echo f\n}\n":                  "f",
		"f () \n{ \n    echo f\n} > out\n":            "f",
		"f () \n{ \n    ( cd /x; rm y )\n}\n":         "f",
		"a-b/c () \n{ \n    :\n}\n":                   "a-b/c",
		"f () \n{ \n    cat <<E\n}\nrm x\nE\n\n}\n":   "f",
		"f () \n{ \n    cat <<'E'\n}\nrm x\nE\n\n}\n": "f",
		"":                                            "",
		"rm x":                                        "",
		"f () \n{ \n    :\n}\nrm x\n":                 "",
		"f () \n{ \n    :\n}; rm x\n":                 "",
		"f () \n{ \n    :\n} & rm x\n":                "",
		"f () \n{ \n    :\n} | sh\n":                  "",
		"f () \n{ \n    :\n} && rm x\n":               "",
		"f () \n{ \n    :\n}\ng () { :; }\n":          "",
		"f () \n{ \n    :\n}\n}\nrm x\n":              "",
		"f () \n{ \n    :":                            "",
		"f () ( rm x )\n":                             "",
		"! f () { :; }\n":                             "",
		"f () \n{ \n    cat <<$'E'\n}\nrm x\nE\n}\n":  "",
		"f () \n{ \n    cat <<E\\F\n}\nrm x\nEF\n}\n": "",
		"x=$(rm y) f () { :; }\n":                     "",
		"f$(rm x) () { :; }\n":                        "",
		"f\x00 () { :; }\n":                           "",
	} {
		if got := Declares(text); got != want {
			t.Errorf("%q declares %q, want %q", text, got, want)
		}
	}
}
