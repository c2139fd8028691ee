package systems

import (
	"context"
	"time"
)

// Cluster is a running system with the handles that a nemesis pulls. Every
// method may be called from any goroutine. Close ends all that the cluster
// started, heals nothing and is safe to call twice.
type Cluster interface {
	// Nodes lists the names of the nodes, always in the same order.
	Nodes() []string
	// Leader asks the nodes who leads now. It returns an error when no node
	// says that it does.
	Leader(ctx context.Context) (string, error)
	// Kill ends a node without warning, as kill -9 does; Start brings it back
	// on the same data and returns once it serves.
	Kill(ctx context.Context, node string) error
	Start(ctx context.Context, node string) error
	// Pause stops a node's execution, as SIGSTOP does, and Resume lets it go
	// on. The node's connections stay open meanwhile.
	Pause(ctx context.Context, node string) error
	Resume(ctx context.Context, node string) error
	// Links gives the directed links between nodes; nil where this deployment
	// cannot break links.
	Links() Links
	// Close stops every process, container, namespace and route of the
	// cluster.
	Close() error
}

// Dependent is a Cluster whose nodes cannot do without servers that are not among
// its nodes, such as those of a coordination service.
type Dependent interface {
	Cluster
	// Dependencies lists the servers by the names that they have in Links.
	Dependencies() []string
}

// Pushing is a Cluster of which one node tells the others what it has decided, and in
// which one such push can be held back.
type Pushing interface {
	Cluster
	// Pushed lists the nodes that are told; none where nothing can be held back.
	Pushed() []string
	// HoldPush has the next push to a node arrive d late, and what is sent after it
	// pass it. Zero takes that back, where the push has not been sent yet.
	HoldPush(to string, d time.Duration) error
}

// Links breaks directed links between nodes of a cluster. A link carries what
// one node sends to another; cutting it leaves the opposite direction whole.
type Links interface {
	// Cut drops everything that from sends to to, until Heal. Connections stay
	// open, as they do when a cable is pulled.
	Cut(from, to string) error
	// Delay holds back everything that from sends to to by d, until Heal.
	Delay(from, to string, d time.Duration) error
	// Throttle lets at most bytesPerSecond through, until Heal.
	Throttle(from, to string, bytesPerSecond int) error
	// Heal makes the link whole again.
	Heal(from, to string) error
}

// CutOnly is Links that can be cut and healed, neither delayed nor throttled.
type CutOnly interface {
	Links
	CutOnly()
}
