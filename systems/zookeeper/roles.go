package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Role is what a server said of itself, or why it said nothing.
type Role struct {
	Status
	Err error
}

func (r Role) String() string {
	if r.Err != nil {
		return r.Err.Error()
	}
	return fmt.Sprintf("%s at zxid 0x%x", r.Mode, r.Zxid)
}

// Roles are the answers of all servers, by name.
type Roles map[string]Role

// Leader names the server that leads. While an old leader has not noticed that
// it was deposed two say so; the one with the newer epoch is right.
func (r Roles) Leader() (string, bool) {
	leader, epoch := "", uint64(0)
	for name, role := range r {
		if role.Err != nil || !role.Leads() {
			continue
		}
		if e := role.Zxid >> 32; leader == "" || e > epoch {
			leader, epoch = name, e
		}
	}
	return leader, leader != ""
}

// AllServe says whether every server answers clients and exactly one leads.
func (r Roles) AllServe() bool {
	leaders := 0
	for _, role := range r {
		if role.Err != nil {
			return false
		}
		if role.Leads() {
			leaders++
		}
	}
	return leaders == 1
}

// String lists the servers in the order of their names.
func (r Roles) String() string {
	var b strings.Builder
	for i, name := range sortedKeys(r) {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s: %v", name, r[name])
	}
	return b.String()
}

// errNoLeader is why Leader names nobody.
var errNoLeader = errors.New("no server says that it leads")

func leader(ctx context.Context, ask func(context.Context) Roles) (string, error) {
	roles := ask(ctx)
	if name, ok := roles.Leader(); ok {
		return name, nil
	}
	return "", fmt.Errorf("%w (%v)", errNoLeader, roles)
}

// askAll asks every server at the same time.
func askAll(ctx context.Context, names []string, ask func(context.Context, string) (Status, error)) Roles {
	roles := make(Roles, len(names))
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, name := range names {
		wg.Go(func() {
			status, err := ask(ctx, name)
			mu.Lock()
			defer mu.Unlock()
			roles[name] = Role{status, err}
		})
	}
	wg.Wait()
	return roles
}

// askEvery is how often a condition is asked for.
const askEvery = 25 * time.Millisecond

// awaitRoles asks for the roles until cond holds. want says what is waited for, for
// the error when ctx is over first. check, where not nil, may end the wait with
// an error of its own.
func awaitRoles(ctx context.Context, want string, ask func(context.Context) Roles, cond func(Roles) bool, check func() error) (Roles, error) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	var roles Roles
	for {
		answers := ask(ctx)
		// What was asked too late to be answered says nothing of the servers.
		if deadline, ok := ctx.Deadline(); roles == nil || ctx.Err() == nil && (!ok || time.Now().Before(deadline)) {
			roles = answers
			if cond(roles) {
				return roles, nil
			}
		}
		if check != nil {
			if err := check(); err != nil {
				return roles, err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return roles, fmt.Errorf("waited in vain for %s: %w (%v)", want, context.Cause(ctx), roles)
		}
	}
}
