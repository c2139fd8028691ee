package leadership

import (
	"strconv"
	"strings"

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

// ParseText is the inverse of Text.
func ParseText(text string) (leader, epoch int32, ok bool) {
	who, number, found := strings.Cut(text, "/")
	e, err := strconv.ParseInt(number, 10, 32)
	if !found || err != nil {
		return 0, 0, false
	}
	if who == "none" {
		return protocol.NoLeader, int32(e), true
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(who, "b"), 10, 32)
	return int32(n), int32(e), err == nil && strings.HasPrefix(who, "b")
}
