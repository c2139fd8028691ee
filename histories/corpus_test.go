package histories

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// notHistories names the parts of the corpus that this package does not read,
// and why.
var notHistories = map[string]string{
	"kafka-logs":      "logs of Kafka, not histories",
	"etcd-robustness": "etcd's own form: one file a client, the calls with their interval",
	"maelstrom-docs":  "documentation",
}

func TestCorpusReads(t *testing.T) {
	root := filepath.Join("..", "..", "shared", "corpus")
	manifest, err := os.ReadFile(filepath.Join(root, "MANIFEST.tsv"))
	if err != nil {
		t.Skipf("the corpus of recorded histories is not here: %v", err)
	}
	read := 0
	for _, row := range strings.Split(strings.TrimSpace(string(manifest)), "\n")[1:] {
		path, _, _ := strings.Cut(row, "\t")
		if _, known := notHistories[strings.Split(path, "/")[0]]; known {
			continue
		}
		h, err := ReadFile(filepath.Join(root, path), ReadOptions{})
		if err != nil {
			t.Log(err)
			continue
		}
		if len(h.Operations) == 0 {
			t.Log("none", path)
		}
		read++
	}
	t.Logf("%d histories read", read)
}
