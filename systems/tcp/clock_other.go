//go:build !unix

package tcp

import "time"

func machineClock() time.Duration { return time.Duration(time.Now().UnixNano()) }
