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

// refusedHistories are the files that are no histories or not sound ones, and
// what the error says.
var refusedHistories = map[string]string{
	"porcupine/test_data/jepsen/etcd_095.log": "empty file",
	"elle-cli/histories/jepsen/long-fork.edn": "expected a process",
	"elle/histories/paper-example.edn":        "expected a process",
	"fast-jepsen/experiments/may-17/events":   "expected a type",
	"fast-jepsen/experiments/may-24/events":   "expected a type",
	"gator1-knossos/foobar.edn":               "no event",
	"gator1-knossos/foobar2.edn":              "no event",
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
		_, err := ReadFile(filepath.Join(root, path), ReadOptions{})
		reason, refused := refusedHistories[path]
		switch {
		case err == nil && refused:
			t.Errorf("%s was read; expected %q", path, reason)
		case err == nil:
			read++
		case !refused:
			t.Error(err)
		case !strings.Contains(err.Error(), reason):
			t.Errorf("expected %q, found %v", reason, err)
		default:
			t.Logf("refused, as it should be: %v", err)
		}
	}
	t.Logf("%d histories read; not tried:", read)
	for part, why := range notHistories {
		t.Logf("  %s: %s", part, why)
	}
	if read == 0 {
		t.Error("no history was read")
	}
}
