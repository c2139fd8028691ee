package node

// Trace is something that happened inside a node: a write to the store, a push
// queued, sent, applied or refused, a record appended, committed or applied. The
// driver adds the time and the node.
type Trace struct {
	// What happened, in the system's own terms: "store-write", "push-sent",
	// "push-refused", "applied", "epoch", …
	What string
	// Key is the partition it was about, if any.
	Key string
	// Peer is the other node, if any.
	Peer ID
	// Leader, Epoch and Version say which state it was: who leads, in which
	// leader epoch, and under which order token of the system.
	Leader  int32
	Epoch   int32
	Version int64
	// ID joins the stages of one push (queued, sent, received, applied).
	ID uint64
	// Why is the reason for a refusal or a loss.
	Why string
}
