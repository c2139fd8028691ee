//go:build !linux

package zookeeper

import "testing"

func noBypass(t *testing.T, _ *Ensemble) { t.Skip("reads /proc/net, which only Linux has") }
