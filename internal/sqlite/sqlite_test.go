package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

var steps = Schema{"create table a (x integer); insert into a values (1);", "alter table a add column y text; update a set y = 'two';"}

func open2(t *testing.T, path string, s Schema) *DB {
	t.Helper()
	db, err := Open(t.Context(), path, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestPragmas(t *testing.T) {
	db := open2(t, filepath.Join(t.TempDir(), "a ?#%&.db"), nil)
	for _, row := range []struct{ pragma, want string }{
		{"journal_mode", "wal"}, {"synchronous", "2"}, {"foreign_keys", "1"}, {"busy_timeout", "10000"}, {"secure_delete", "1"}, {"trusted_schema", "0"},
	} {
		var got string
		if err := db.QueryRow(t.Context(), "pragma "+row.pragma).Scan(&got); err != nil || got != row.want {
			t.Errorf("%s is %q, want %q (%v)", row.pragma, got, row.want, err)
		}
	}
	if _, err := os.Stat(db.Path()); err != nil {
		t.Errorf("the file has another name: %v", err)
	}
}

func TestSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	open2(t, path, steps[:1]).Close()
	db := open2(t, path, steps)
	var y string
	if err := db.QueryRow(t.Context(), "select y from a").Scan(&y); err != nil || y != "two" {
		t.Errorf("after step 2: %q %v", y, err)
	}
	db.Close()
	if _, err := Open(t.Context(), path, steps[:1]); !errors.Is(err, ErrNewer) {
		t.Errorf("an older program: %v", err)
	}
	broken := append(append(Schema{}, steps...), "create table b (z); insert into nowhere values (1);")
	if _, err := Open(t.Context(), path, broken); err == nil || !strings.Contains(err.Error(), "schema step 3") {
		t.Errorf("a broken step: %v", err)
	}
	db = open2(t, path, steps)
	var n int
	if err := db.QueryRow(t.Context(), "select count(*) from sqlite_schema where name = 'b'").Scan(&n); err != nil || n != 0 {
		t.Errorf("half of a step was taken: %d %v", n, err)
	}
}

// Of many that open a new database at once, one takes the steps, and the others wait.
func TestOpenTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			db, err := Open(context.Background(), path, steps)
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			if err := db.Write(context.Background(), func(tx *Tx) error {
				_, err := tx.ExecContext(context.Background(), "update a set x = x + 1")
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var x int
	if err := open2(t, path, steps).QueryRow(t.Context(), "select x from a").Scan(&x); err != nil || x != 9 {
		t.Errorf("x is %d, want 9 (%v)", x, err)
	}
}

func TestOpenRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db")
	if _, err := OpenRead(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := OpenRead(t.Context(), dir); err == nil {
		t.Error("a folder was opened")
	}
	open2(t, path, steps).Close()
	db, err := OpenRead(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Write(t.Context(), func(tx *Tx) error { _, err := tx.Exec("delete from a"); return err }); err == nil {
		t.Error("it was written to")
	}
	junk := filepath.Join(dir, "junk.db")
	if err := os.WriteFile(junk, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenRead(t.Context(), junk); err == nil {
		t.Error("junk was opened")
	}
	if _, err := Open(t.Context(), junk, steps); err == nil {
		t.Error("junk was opened for writing")
	}
}

func TestDamageIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db := open2(t, path, Schema{"create table a (x text); create index i on a (x); insert into a select hex(randomblob(200)) from (with recursive n(i) as (select 1 union all select i+1 from n where i < 500) select i from n);"})
	if err := db.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	db.Close()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(text[len(text)/2:], strings.Repeat("\xff", 4096))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	damaged, err := OpenRead(t.Context(), path)
	if err != nil {
		return // found already
	}
	defer damaged.Close()
	if err := damaged.Check(t.Context()); err == nil {
		t.Error("damage was not found")
	}
}

func TestFilesAreTheOwners(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are of Unix")
	}
	path := filepath.Join(t.TempDir(), "x.db")
	db := open2(t, path, steps)
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
		if err := os.Chmod(name, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	again := open2(t, path, steps)
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("opened again, %s: %v %v", name, info.Mode(), err)
		}
	}
	_, _ = db, again
}
