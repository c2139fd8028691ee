package raft

import (
	"github.com/stalemate-io/stalemate/systems/kraft/epochlog"
	"github.com/stalemate-io/stalemate/systems/node"
)

// OpenLog reads the metadata log on the disk of a replica that does not run.
func OpenLog(disk node.Disk) (*epochlog.Log, error) { return epochlog.Open(disk, logName) }
