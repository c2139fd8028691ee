package histories

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRunIsFoundAsItWasLeft(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	info := RunInfo{
		Name: "zk", System: "zookeeper", Deployment: "local", Seed: 7, Model: "register",
		Settings: map[string]string{"rate": "100"},
		Initial:  []InitialValue{{String("t-0"), Int(0)}, {Keyword("k"), Set(Int(1))}},
		Promises: map[string]string{"get": "ordered-lag"},
	}
	first, err := CreateRun(store, info)
	if err != nil {
		t.Fatal(err)
	}
	info.Started = first.Info.Started // in the same millisecond
	second, err := CreateRun(store, info)
	if err != nil {
		t.Fatal(err)
	}
	if first.Dir == second.Dir {
		t.Fatal("two runs share a folder")
	}
	f, err := second.CreateHistory()
	if err != nil {
		t.Fatal(err)
	}
	rec := NewRecorder(f)
	rec.Client().Invoke(Event{F: "read"}).OK(Event{Value: Int(0)})
	if err := errors.Join(rec.Close(), f.Close(), second.End(Finished, nil)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{second.Dir, filepath.Join(store, "latest"), filepath.Join(store, "zk", "latest")} {
		r, err := OpenRun(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(second.Info, r.Info, cmp.AllowUnexported(Value{})); diff != "" {
			t.Errorf("%s (-written +read):\n%s", path, diff)
		}
		h, err := r.History()
		if err != nil || len(h.Operations) != 1 || !h.Whole {
			t.Errorf("%s: %v, %v", path, h, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(store, "*", "*", "*.tmp"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestRunOfALaterVersionIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, RunFile), []byte(`{"version":99}`), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenRun(dir); err == nil || !strings.Contains(err.Error(), "found 99") {
		t.Errorf("got %v", err)
	}
}
