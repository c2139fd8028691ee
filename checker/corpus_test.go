package checker_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
)

// corpusRow is one history that others recorded and judged.
type corpusRow struct{ path, model, verdict string }

// corpusModel says how the manifest's model is asked for here.
type corpusModel struct {
	name    string
	initial histories.Value
	keyed   bool
}

// corpusModels are the models that the manifest names and this package has.
var corpusModels = map[string]corpusModel{
	"cas-register":            {name: "cas-register", initial: histories.Int(0)},
	"cas-register (init nil)": {name: "cas-register"},
	"cas-register (independent keys [k v], init nil)": {name: "cas-register", keyed: true},
	"cas-register, independent [k v], 100 keys":       {name: "cas-register", keyed: true, initial: histories.Int(0)},
	"register, independent string keys [\"node1\" v]": {name: "register", keyed: true},
	"mutex":                      {name: "mutex"},
	"counter":                    {name: "counter"},
	"counter (independent keys)": {name: "counter", keyed: true},
	"set-full":                   {name: "set"},
}

// notModelled names what the manifest's other models are.
var notModelled = map[string]string{
	"list-append":                "transactions; Elle's subject",
	"list-append (serializable)": "transactions; Elle's subject",
	"rw-register":                "transactions; Elle's subject",
	"rw-register txn":            "transactions; Elle's subject",
	"long-fork (group-size 3)":   "transactions; Elle's subject",
	"bank":                       "transfers between accounts, a transaction each",
	"kafka/zk":                   "logs of Kafka, not a history",
	"see SOURCES.md":             "documentation, not a history",
	"-":                          "not a history",
	"etcd watch (whole directory = one history)":                                               "etcd's own form, one file a client",
	"etcd ops (whole directory = one history)":                                                 "etcd's own form, one file a client",
	"kv string append (get/put/append per :key, init \"\")":                                    "a register that appends to strings",
	"multi-register {:x 0 :y 0}":                                                               "transactions over several registers",
	"register (monotonic versions, init nil)":                                                  "judged there by versions that the file does not hold",
	"event log write-start/read-start/write-ack/read-ack, keys key1..3, no client id, no time": "an event log without clients",
}

// otherwise are the files whose verdict here differs from the manifest's, and
// why that is right.
var otherwise = map[string]string{
	"knossos/data/cas-register/good/mongodb-v0-ack-rollback-9.edn":  "every operation failed, so that there is nothing to check",
	"knossos/data/cas-register/good/mongodb-v0-ack-rollback-10.edn": "every operation failed, so that there is nothing to check",
	"knossos/data/cas-register/good/mongodb-v0-ack-rollback-11.edn": "every operation failed, so that there is nothing to check",
	"elle-cli/histories/jepsen/counter.edn":                         "holds additions alone, so that nothing could contradict them",
	"elle-cli/histories/jepsen/counter.json":                        "holds additions alone, so that nothing could contradict them",
	"porcupine/test_data/jepsen/etcd_095.log":                       "is empty, so that there is nothing to check",
	"knossos/data/cas-register/good/mongodb-v0-ack-rollback-.edn":   "holds faults alone, so that there is nothing to check",
}

func corpus(t *testing.T) (root string, rows []corpusRow) {
	t.Helper()
	root = filepath.Join("..", "..", "shared", "corpus")
	manifest, err := os.ReadFile(filepath.Join(root, "MANIFEST.tsv"))
	if err != nil {
		t.Skipf("the corpus of recorded histories is not here: %v", err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(manifest)), "\n")[1:] {
		f := strings.Split(line, "\t")
		rows = append(rows, corpusRow{f[0], f[1], f[2]})
	}
	return root, rows
}

func TestCorpusGetsItsKnownVerdicts(t *testing.T) {
	root, rows := corpus(t)
	type count struct{ files, agreed int }
	var all count
	judged := map[string]count{}
	skipped := map[string]int{}
	for _, row := range rows {
		m, ok := corpusModels[row.model]
		if !ok {
			reason := notModelled[row.model]
			if reason == "" {
				t.Errorf("%s: no model and no reason for %q", row.path, row.model)
			}
			skipped[row.model+": "+reason]++
			continue
		}
		got, err := corpusVerdict(filepath.Join(root, row.path), m)
		if why, ok := otherwise[row.path]; ok {
			if err == nil {
				t.Errorf("%s: %s; found %s, expected an error", row.path, why, got)
			}
			skipped[row.path+": "+why]++
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", row.path, err)
			continue
		}
		n := judged[m.name]
		n.files++
		all.files++
		want := checker.Holds
		if strings.HasPrefix(row.verdict, "not-") || strings.HasPrefix(row.verdict, "invalid") {
			want = checker.Violated
		}
		if got != want {
			t.Errorf("%s: %s, %s expected (%s, %s)", row.path, got, want, row.model, row.verdict)
		} else {
			n.agreed++
			all.agreed++
		}
		judged[m.name] = n
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\nfiles\tagreed\tmodel\n")
	for _, name := range slices.Sorted(maps.Keys(judged)) {
		fmt.Fprintf(w, "%5d\t%6d\t%s\n", judged[name].files, judged[name].agreed, name)
	}
	fmt.Fprintf(w, "%5d\t%6d\tall\n\nfiles\tnot judged, and why\n", all.files, all.agreed)
	for _, what := range slices.Sorted(maps.Keys(skipped)) {
		fmt.Fprintf(w, "%5d\t%s\n", skipped[what], what)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Log(b.String())
	if all.files == 0 {
		t.Error("nothing was read")
	}
}

func corpusVerdict(path string, m corpusModel) (checker.Answer, error) {
	h, err := histories.ReadFile(path, histories.ReadOptions{Keyed: m.keyed})
	if err != nil {
		return "", err
	}
	v, err := checker.Check(h, checker.Options{Model: m.name, Default: m.initial, Timeout: 3 * time.Minute})
	if err != nil {
		return "", err
	}
	if v.Holds == checker.Undecided {
		return v.Holds, errors.New(v.Reason)
	}
	return v.Holds, nil
}
