package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/internal/explore"
)

// TestExploreReplayMerge goes the whole way: two shards are searched and find
// something, the results are joined, and what was found is repeated to the byte.
func TestExploreReplayMerge(t *testing.T) {
	dir := t.TempDir()
	var shards []string
	for _, shard := range []string{"0/2", "1/2"} {
		out := filepath.Join(dir, shard[:1])
		shards = append(shards, out)
		text, code := stalemate(t, "", "explore", "push", "--guards-off", "controller-epoch-check", "--seed", "7", "--runs", "2", "--shard", shard, "--out", out)
		if found := shard == "0/2"; code == exitViolated != found || !strings.Contains(text, "seeds 7 to 8: 1 runs") {
			t.Fatalf("shard %s exits with %d:\n%s", shard, code, text)
		}
	}
	merged := filepath.Join(dir, "merged")
	text, code := stalemate(t, "", append([]string{"merge", "--out", merged}, shards...)...)
	if code != exitViolated || !strings.Contains(text, "seeds 7 to 8: 2 runs, 1 failed") || strings.Contains(text, "missing") {
		t.Fatalf("merge exits with %d:\n%s", code, text)
	}
	s, err := explore.Read(merged)
	if err != nil || len(s.Found) == 0 {
		t.Fatalf("merged into %+v, %v", s, err)
	}
	file := filepath.Join(merged, s.Found[0].File)
	history := filepath.Join(dir, "history.jsonl")
	text, code = stalemate(t, "", "replay", "--exact", "--history", history, file)
	if code != exitHolds || !strings.Contains(text, "shows "+s.Found[0].Failure.String()) || !strings.Contains(text, "the same to the byte") {
		t.Errorf("replay exits with %d:\n%s", code, text)
	}
	if text, code = stalemate(t, "", "check", "--model", "leadership", "--require", "ordered-lag", history); code != exitViolated {
		t.Errorf("check of the replayed history exits with %d:\n%s", code, text)
	}
	t.Run("a case that shows something else fails", func(t *testing.T) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(dir, "other.txt")
		changed := strings.Replace(string(text), "expect "+s.Found[0].Failure.String(), "expect broker phantom", 1)
		if err := os.WriteFile(other, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		out, code := stalemate(t, "", "replay", other)
		if code != exitViolated || !strings.Contains(out, "expected, and not shown: broker phantom") || !strings.Contains(out, "not expected: "+s.Found[0].Failure.String()) {
			t.Errorf("exits with %d:\n%s", code, out)
		}
	})
	t.Run("a missing shard is named", func(t *testing.T) {
		out, code := stalemate(t, "", "merge", "--out", filepath.Join(dir, "half"), shards[1])
		if code != exitUndecided || !strings.Contains(out, "missing: shard 0/2") {
			t.Errorf("exits with %d:\n%s", code, out)
		}
	})
}

func TestExploreUsage(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"systems are those of the simulator", []string{"explore", "zookeeper"}, `"zookeeper"`},
		{"shards count from 0", []string{"explore", "push", "--shard", "2/2"}, "expected i/n with i from 0 to n-1"},
		{"guards have names", []string{"explore", "push", "--guards-off", "luck"}, `no guard "luck"`},
		{"levels have names", []string{"explore", "push", "--require", "luck"}, "luck"},
		{"there is something to run", []string{"explore", "push", "--runs", "0"}, "--runs 0: expected at least 1"},
		{"replay needs a case", []string{"replay", "explore_test.go"}, "explore_test.go:1: "},
		{"merge needs folders of results", []string{"merge", "testdata"}, "expected a folder that explore has written"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if out, code := stalemate(t, "", tt.args...); code != exitUsage || !strings.Contains(out, tt.want) {
				t.Errorf("exits with %d: %s", code, out)
			}
		})
	}
}
