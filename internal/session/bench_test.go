package session

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/home"
	"hermes/internal/llm"
	"hermes/internal/sqlite"
)

// long is a conversation of 10,000 messages of about 600 bytes, among 50 others.
func long(b *testing.B) (path, id string) {
	path = filepath.Join(b.TempDir(), "home")
	s := opened(b, path)
	o := owner(b, "default", "cli", "1")
	v := view(b, s, o)
	var ids []string
	for range 51 {
		id, err := v.Begin(context.Background(), o, "", "")
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, id)
	}
	err := s.db.Write(context.Background(), func(tx *sqlite.Tx) error {
		for i := range 10_500 {
			id := ids[50]
			if i >= 10_000 {
				id = ids[i%50]
			}
			m := user(fmt.Sprintf("message %d: %s the build of module%d failed", i, strings.Repeat("lorem ipsum dolor sit amet ", 20), i%97))
			if i%2 == 1 {
				m.Role, m.Calls = llm.Assistant, []llm.Call{{ID: fmt.Sprint(i), Name: "terminal", Arguments: fmt.Sprintf(`{"command":"go test ./module%d"}`, i%97)}}
			}
			r, err := rowOf(m, s.now())
			if err != nil {
				return err
			}
			if _, err := r.insert(context.Background(), tx, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	s.Close()
	return path, ids[50]
}

func BenchmarkOpen10000(b *testing.B) {
	path, id := long(b)
	for b.Loop() {
		dir, err := home.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		s, err := Open(context.Background(), dir)
		if err != nil {
			b.Fatal(err)
		}
		all, err := view(b, s, owner(b, "default", "cli", "1")).Live(context.Background(), id)
		if err != nil || len(all) != 10_000 {
			b.Fatal(len(all), err)
		}
		s.Close()
		dir.Close()
	}
}

func BenchmarkSearch10000(b *testing.B) {
	path, _ := long(b)
	s := opened(b, path)
	v := view(b, s, owner(b, "default", "cli", "1"))
	for _, query := range []string{"module42", "failed", "message lorem", `"go test"`} { // from few to all of them
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				if hits, err := v.Search(context.Background(), query, 20); err != nil || len(hits) != 20 {
					b.Fatal(len(hits), err)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	s := opened(b, filepath.Join(b.TempDir(), "home"))
	o := owner(b, "default", "cli", "1")
	v := view(b, s, o)
	id, err := v.Begin(context.Background(), o, "", "")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		appended(b, v, id, user("one more message"))
	}
}
