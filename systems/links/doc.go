// Package links is a network of breakable links between processes of one
// machine, in user space: no root, no kernel module, the same on every system.
//
// Every address at which one node reaches another is a proxy that belongs to
// that ordered pair, so the proxy knows who dialled, which the loopback device
// does not tell. What flows from one node to the other is a directed link,
// whichever of the two dialled, and a link is broken in one direction without
// touching the opposite one.
//
// A cut link behaves as a pulled cable does to TCP: connections stay open and
// nothing arrives, neither bytes nor the news that the other side has closed or
// died. What was sent meanwhile is held, not discarded, because TCP would
// retransmit it: after Heal it arrives, late and in order. What is held is
// bounded; a sender that goes on is stopped by back-pressure, as by a full send
// buffer.
//
// Two things differ from a real cable. A connection dialled across a cut link is
// accepted by the proxy and then hears nothing, where a real one would hang
// earlier, while connecting; either way it goes on at Heal, unless the dialler
// gave up. And the acknowledgements of TCP itself are not cut with the link they
// would travel on: bytes going the other way arrive, as they should, and their
// sender's buffer drains, which only the sender's kernel would notice.
package links
