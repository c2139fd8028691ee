package push

import (
	"strconv"

	"github.com/stalemate-io/stalemate/systems/node"
)

// controllerBase keeps the numbers of controllers apart from those of brokers.
const controllerBase int32 = 3000

// noController is the controller id of one who knows of none.
const noController int32 = -1

// BrokerID is the node name of broker n: "b" and the number.
func BrokerID(n int32) node.ID { return numbered('b', n) }

// ControllerID is the node name of the n-th controller: "c" and the number.
func ControllerID(n int32) node.ID { return numbered('c', n) }

// number is the id under which a node stands in the store and in requests: N
// for "bN", 3000+N for "cN", and 0 for a name that is neither.
func number(id node.ID) int32 {
	if len(id) < 2 {
		return 0
	}
	n, err := strconv.ParseInt(string(id[1:]), 10, 32)
	if err != nil || n <= 0 {
		return 0
	}
	switch id[0] {
	case 'b':
		return int32(n)
	case 'c':
		return controllerBase + int32(n)
	}
	return 0
}

// nodeOf is the inverse of number; empty for no node.
func nodeOf(n int32) node.ID {
	switch {
	case n > controllerBase:
		return ControllerID(n - controllerBase)
	case n > 0:
		return BrokerID(n)
	}
	return ""
}

// smallIDs holds the names that every run uses, made once.
var smallIDs = func() (ids [2][16]node.ID) {
	for n := range ids[0] {
		ids[0][n] = node.ID("b" + strconv.Itoa(n))
		ids[1][n] = node.ID("c" + strconv.Itoa(n))
	}
	return ids
}()

func numbered(letter byte, n int32) node.ID {
	if n >= 0 && int(n) < len(smallIDs[0]) {
		if letter == 'b' {
			return smallIDs[0][n]
		}
		return smallIDs[1][n]
	}
	return node.ID(string(letter) + strconv.Itoa(int(n)))
}
