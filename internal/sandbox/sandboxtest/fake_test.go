package sandboxtest

import (
	"context"
	"errors"
	"testing"

	"hermes/internal/sandbox"
)

func TestFake(t *testing.T) {
	f := &Fake{}
	Suite(t, func(t testing.TB) sandbox.Sandbox {
		box, err := f.Open(context.Background(), Spec(t, "/work"))
		if err != nil {
			t.Fatal(err)
		}
		return box
	}, Traits{Dir: "/work"})
	if len(f.Opened()) == 0 || len(f.Ran()) < 200 {
		t.Errorf("recorded %d and %d", len(f.Opened()), len(f.Ran()))
	}
	want := errors.New("no")
	if _, err := (&Fake{Failure: want}).Open(t.Context(), Spec(t, "/work")); !errors.Is(err, want) {
		t.Error(err)
	}
}
