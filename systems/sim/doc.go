// Package sim is a cluster in one process and in virtual time. One seed decides
// everything that happens in it: how long each message takes, which are lost,
// doubled or overtaken, when nodes crash, pause and come back, what a disk kept,
// when a session expires. Same seed, same history, byte for byte, on any
// machine; and since nothing waits for real, hours pass in seconds.
//
// A World holds nodes (any node.New, see World.Add), clients (AddClient) and, if
// configured, a modelled coordination service (Store). What happens next is
// always the first item of one agenda, ordered by time and then by the order of
// planning. Each node, link and disk has a source of randomness of its own, so a
// fault that is added or taken away changes what it touches and leaves the rest
// of the run alone. That is what lets a failing schedule be shrunk.
//
// # Crashes and pauses at effect boundaries
//
// Every call of a node to its Env is a point at which it may crash or be paused:
// by count (World.CrashAfter) or by what it traces there (World.OnTrace, the
// triggers of a Fault). After a crash the rest of the callback has no effect.
// After a pause the rest of the callback's effects wait for the resume; only
// what it writes to its disk is there at once.
//
// # What the network is like
//
// Requests and answers between two nodes go over a connection that keeps each
// direction in order. A call that runs out of time closes its connection, so
// that the next one may overtake what is still under way. A node that is down
// refuses (node.ErrUnreachable), one that dies resets (node.ErrReset), and a cut
// link is silent (node.ErrTimeout). A message that is lost is lost: there is no
// retransmission, except over a link that is held, which gives everything back
// when it is released, as TCP does after a short cut.
package sim
