package zookeeper

import (
	"slices"
	"strings"
	"testing"
)

func TestParsePaths(t *testing.T) {
	tests := []struct {
		rule, list string
		want       []string
		err        string
	}{
		{"one", "sync", []string{"sync"}, ""},
		{"several come in the order of the table", "check, get", []string{"get", "check"}, ""},
		{"all", "all", []string{"get", "sync", "write", "check", "watch"}, ""},
		{"an unknown one is named", "get,quorum", nil, `"quorum"`},
		{"none is an error", "", nil, `""`},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			paths, err := ParsePaths(test.list)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("got %v, want an error with %s", err, test.err)
				}
				return
			}
			var names []string
			for _, p := range paths {
				names = append(names, p.Name)
			}
			if err != nil || !slices.Equal(names, test.want) {
				t.Errorf("got %q, %v, want %q", names, err, test.want)
			}
		})
	}
}

func TestAWatchFedCachePromisesNoOrderAcrossRegisters(t *testing.T) {
	one, two := Promises(1), Promises(2)
	for _, p := range Paths() {
		if one[p.Name] != p.Promise {
			t.Errorf("%s of one register promises %s, want %s", p.Name, one[p.Name], p.Promise)
		}
		if want := p.Promise; p.Name != PathWatch && two[p.Name] != want {
			t.Errorf("%s of two registers promises %s, want %s", p.Name, two[p.Name], want)
		}
	}
	if two[PathWatch] != "monotonic-reads" {
		t.Errorf("watch of two registers promises %s, want monotonic-reads", two[PathWatch])
	}
}
