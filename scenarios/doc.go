// Package scenarios holds the named divergences, each a short text file that is
// replayed in a simulated cluster in which every delay is constant, and tells what
// happens there as a story.
//
// # Format
//
// One step a line; blank lines and lines that begin with # say nothing.
//
//	about TEXT             what the scenario shows, over one or several lines
//	system push|kraft      begins a cluster of c1, c2, c3 and b1, b2, b3 with
//	                       partitions t-0 and t-1; a file may begin several
//	off GUARD...           switches guards off, before the first other step
//	on GUARD...            switches extra guards on, likewise
//	say TEXT               a sentence of the story, over one or several lines
//	fault FAULT            begins a fault now, in the words of package sim
//	elect P B [at C]       a client asks the active controller, or C, to make
//	                       broker B lead partition P, and waits for the answer
//	ask P [B...]           asks every broker, or those, who leads P
//	leader P C             asks controller C who leads P, over path leader; C may
//	                       be @controller, the active one, or @first, the one
//	                       that was so at the start
//	quorum P C             the same over path quorum
//	produce P B VALUE      a client appends a value at broker B, with acks=all
//	fetch P B              a client reads the latest value at broker B, over path
//	                       fetch; a cluster is either of these two steps or of
//	                       those that ask and elect
//	run D                  lets time pass
//	final P...             marks the end: what is stale from here on is stuck,
//	                       and asks every broker for the partitions
//	expect PATH VERDICT [KIND...]   what the checks say of a read path, and
//	                       which kinds of anomaly they name
//	cause TEXT             what the first anomaly's cause begins with
package scenarios
