package processes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/systems/node"
)

func goodConfig() NodeConfig {
	return NodeConfig{
		Self: "c1", Cluster: Settings{System: "kraft", Controllers: 1, Brokers: 1, Partitions: 1, Off: []string{"pre-vote"}},
		Listen: "127.0.0.1:1", Peers: map[node.ID]string{"b1": "127.0.0.1:2"}, Disk: "/nowhere",
	}
}

func TestAConfigurationIsReadAsItWasWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "node.json")
	want := goodConfig()
	must(t, want.write(file))
	got, err := ReadConfig(file)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	tests := []struct {
		rule  string
		spoil func(*NodeConfig)
		want  string
	}{
		{"a system that is none", func(c *NodeConfig) { c.Cluster.System = "paxos" }, `"paxos"`},
		{"no controllers", func(c *NodeConfig) { c.Cluster.Controllers = 0 }, "no controllers"},
		{"a guard that is none", func(c *NodeConfig) { c.Cluster.Off = []string{"luck"} }, `"luck"`},
		{"a node that is not of the cluster", func(c *NodeConfig) { c.Self = "c2" }, `"c2"`},
		{"no address to listen at", func(c *NodeConfig) { c.Listen = "" }, `"listen"`},
		{"no disk", func(c *NodeConfig) { c.Disk = "" }, `"disk"`},
		{"a peer without an address", func(c *NodeConfig) { c.Peers = nil }, "b1"},
		{"push without a store", func(c *NodeConfig) {
			c.Cluster = Settings{System: "push", Controllers: 1, Brokers: 1, Partitions: 1}
		}, `"store"`},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			c := goodConfig()
			test.spoil(&c)
			file := filepath.Join(t.TempDir(), "node.json")
			text, err := json.Marshal(c)
			must(t, err)
			must(t, os.WriteFile(file, text, 0o644))
			if _, err := ReadConfig(file); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), file) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := ReadConfig(filepath.Join(t.TempDir(), "node.json")); err == nil {
		t.Error("a file that is not there was read")
	}
}
