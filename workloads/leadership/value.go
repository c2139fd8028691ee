package leadership

import (
	"strconv"

	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/systems/protocol"
)

// Value is how a leader in a leader epoch stands in a history: "b2/5", or
// "none/6" where the partition has no leader.
func Value(leader, epoch int32) histories.Value { return histories.String(Text(leader, epoch)) }

// Text is Value as a string.
func Text(leader, epoch int32) string {
	who := "none"
	if leader != protocol.NoLeader {
		who = "b" + strconv.Itoa(int(leader))
	}
	return who + "/" + strconv.Itoa(int(epoch))
}
