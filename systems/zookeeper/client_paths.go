package zookeeper

import (
	"fmt"
	"strings"

	"github.com/stalemate-io/stalemate/systems"
)

// The read paths.
const (
	PathGet   = "get"
	PathSync  = "sync"
	PathWrite = "write"
	PathCheck = "check"
	PathWatch = "watch"
)

// paths says what each way to read does and what it promises. A sync is not a
// quorum operation (ZOOKEEPER-1675, ZOOKEEPER-3522), so its promise is what its
// users take it for and not what the documentation grants.
var paths = []systems.Path{
	{Name: PathGet, Promise: "ordered-lag", Text: "get from the server's own memory"},
	{Name: PathSync, Promise: "linearizable", Text: "sync, then get, as its users assume"},
	{Name: PathWrite, Promise: "linearizable", Text: "a write of a private znode, then get"},
	{Name: PathCheck, Promise: "linearizable", Text: "a multi of one version check, then get"},
	{Name: PathWatch, Promise: "ordered-lag", Text: "a cache in the client, refilled by watches"},
}

// Paths lists the ways to read from ZooKeeper, each with its promise.
func Paths() []systems.Path { return append([]systems.Path(nil), paths...) }

// Promises gives the promise of each path for a run on so many registers. A
// watch-fed cache walks forward through the order of one register. It promises
// no order across several: each is read again when its own watch fires, so two
// caches may see two changes in opposite orders.
func Promises(registers int) map[string]string {
	promises := map[string]string{}
	for _, p := range paths {
		promises[p.Name] = p.Promise
	}
	if registers > 1 {
		promises[PathWatch] = "monotonic-reads"
	}
	return promises
}

// ParsePaths turns a comma-separated list of names, or "all", into paths in the
// order of Paths.
func ParsePaths(list string) ([]systems.Path, error) {
	if strings.TrimSpace(list) == "all" {
		return Paths(), nil
	}
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(list, ",") {
		wanted[strings.TrimSpace(name)] = true
	}
	var chosen []systems.Path
	for _, p := range paths {
		if wanted[p.Name] {
			chosen = append(chosen, p)
			delete(wanted, p.Name)
		}
	}
	for name := range wanted {
		return nil, fmt.Errorf("no read path %q: expected get, sync, write, check, watch, several of them with commas, or all", name)
	}
	return chosen, nil
}
