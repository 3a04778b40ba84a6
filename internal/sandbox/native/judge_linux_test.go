package native

import (
	"errors"
	"os"
	"strings"
	"testing"

	"hermes/internal/guard/exposure"
	"hermes/internal/sandbox"
)

// A limit that is not in force says what it is that is lacking here, and how to go on.
func TestUnmetLimit(t *testing.T) {
	why, do := "this user may not", "Delegate="
	if os.Getuid() == 0 {
		why, do = "there is no control group", "/sys/fs/cgroup"
	}
	for _, row := range []struct {
		limit   exposure.Limit
		why, do string
	}{
		{exposure.Limit{Name: "cpu", Unit: "milli", Asked: 500}, why, do},
		{exposure.Limit{Name: "pids", Asked: 50}, why, do},
		{exposure.Limit{Name: "memory", Unit: "bytes", Asked: 1 << 30, Force: 2 << 30, Grade: exposure.CgroupV1}, "2 GiB is in force, by cgroup v1", "another value"},
		{exposure.Limit{Name: "disk", Unit: "bytes", Asked: 1 << 30}, "file systems of this machine", "docker"},
	} {
		row.limit.Want = exposure.Explicitly
		rows := exposure.Exposure{Limits: []exposure.Limit{row.limit}}.Unmet()
		if len(rows) != 1 {
			t.Fatalf("%s: %+v", row.limit.Name, rows)
		}
		var e *sandbox.MissingError
		if !errors.As(unmet(rows[0]), &e) || !strings.Contains(e.Why, row.why) || !strings.Contains(e.Remedy, row.do) ||
			!strings.Contains(e.Remedy, "hermes config unset terminal.container_"+row.limit.Name) || !strings.Contains(e.Remedy, "native_best_effort") {
			t.Errorf("%s: %+v", row.limit.Name, e)
		}
	}
}
