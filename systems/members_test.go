package systems

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// recorded is a member that writes down what is done to it.
type recorded struct {
	did  []string
	died error
}

func (r *recorded) note(what string) error {
	r.did = append(r.did, what)
	return nil
}

func (r *recorded) Start() error               { return r.note("start") }
func (r *recorded) Kill(context.Context) error { return r.note("kill") }
func (r *recorded) Pause() error               { return r.note("pause") }
func (r *recorded) Resume() error              { return r.note("resume") }
func (r *recorded) Died() error                { return r.died }

func TestWhatIsDoneToANodeIsDoneToTheOneOfThatName(t *testing.T) {
	m := Members[string, *recorded]{"a": {}, "b": {}}
	doings := []func(context.Context, string) error{m.Kill, m.Start, m.Pause, m.Resume}
	for _, do := range doings {
		if err := do(t.Context(), "b"); err != nil {
			t.Error(err)
		}
		if err := do(t.Context(), "c"); err == nil || !strings.Contains(err.Error(), `no node "c": want one of [a b]`) {
			t.Errorf("of nobody's name: %v", err)
		}
	}
	if got := strings.Join(m["b"].did, " "); got != "kill start pause resume" || len(m["a"].did) > 0 {
		t.Errorf("done to b: %s; to a: %v", got, m["a"].did)
	}
}

func TestWhoDiedIsToldInOrderOfNames(t *testing.T) {
	first, second := errors.New("a has died"), errors.New("c has died")
	m := Members[string, *recorded]{"c": {died: second}, "b": {}, "a": {died: first}}
	if err := m.Died(); err == nil || err.Error() != "a has died\nc has died" {
		t.Errorf("got %v", err)
	}
	delete(m, "a")
	delete(m, "c")
	if err := m.Died(); err != nil {
		t.Error(err)
	}
}
