package histories

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	ednInvoke = `{:type :invoke, :f :write, :value 1, :process 0}`
	ednOK     = `{:type :ok, :f :write, :value 1, :process 0}`
	oneWrite  = "write 1 -> nil Happened"
)

func jsonEvent(index int, process, typ, value string) string {
	return fmt.Sprintf(`{"index":%d,"process":%s,"type":"%s","f":"write","value":%s}`, index, process, typ, value)
}

var closingTwo = "\n" + `{"end":true,"events":2}` + "\n"

// show writes the operations for comparison.
func show(h *History) string {
	var lines []string
	for i := range h.Operations {
		o := &h.Operations[i]
		key := ""
		if k := h.Keys[o.Key]; !k.IsNil() {
			key = k.EDN() + " "
		}
		lines = append(lines, fmt.Sprintf("%s %s%s -> %s %s", h.Functions[o.F], key,
			h.Data.Unpack(o.Argument).EDN(), h.Data.Unpack(o.Result).EDN(),
			[...]string{"Unknown", "Happened", "Failed"}[o.Outcome]))
	}
	return strings.Join(lines, "; ")
}

func compress(t *testing.T, text, with string) string {
	t.Helper()
	var b bytes.Buffer
	switch with {
	case "gzip":
		w := gzip.NewWriter(&b)
		w.Write([]byte(text))
		w.Close()
	case "zstd":
		w, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(text))
		w.Close()
	}
	return b.String()
}

// The acceptance list: every form a history may come in and every fault it may
// have.
func TestReaderAccepts(t *testing.T) {
	jsonl := jsonEvent(0, "0", "invoke", "1") + "\n" + jsonEvent(1, "0", "ok", "1")
	tests := []struct {
		rule    string
		text    string
		keyed   bool
		want    string
		whole   bool
		faults  int
		warning string // must be in one; none allowed where empty
	}{
		{rule: "EDN: one map a line", text: ednInvoke + "\n" + ednOK + "\n", want: oneWrite},
		{rule: "EDN: a vector", text: "[" + ednInvoke + "\n" + ednOK + "]", want: oneWrite, whole: true},
		{rule: "EDN: a list", text: "(" + ednInvoke + "\n" + ednOK + ")", want: oneWrite, whole: true},
		{rule: "EDN: commas between operations", text: "[" + ednInvoke + ",\n" + ednOK + ",]", want: oneWrite, whole: true},
		{rule: "EDN: no commas at all", text: strings.ReplaceAll(ednInvoke+ednOK, ",", ""), want: oneWrite},
		{rule: "EDN: comments before, between and behind", text: "; a\n" + ednInvoke + " ; b }\n;; c\n" + ednOK + ";d", want: oneWrite},
		{rule: "EDN: a map over several lines", text: strings.ReplaceAll(ednInvoke+ednOK, ",", "\n"), want: oneWrite},
		{rule: "EDN: record tags", text: "#jepsen.history.Op" + ednInvoke + "#knossos.op.Op " + ednOK, want: oneWrite},
		{rule: "EDN: discarded forms", text: "#_{:a #_#_ 1 2 3} " + ednInvoke + "#_[1 2]" + strings.Replace(ednOK, ":value", "#_ x :value #_y", 1), want: oneWrite},
		{rule: "JSON: an array", text: "[" + jsonEvent(0, "0", "invoke", "1") + ",\n" + jsonEvent(1, "0", "ok", "1") + "]", want: oneWrite, whole: true},
		{rule: "JSON: pretty objects", text: strings.ReplaceAll(jsonl, ",", ",\n "), want: oneWrite},
		{rule: "JSON lines with a closing line", text: jsonl + closingTwo, want: oneWrite, whole: true},
		{rule: "JSON lines without a closing line", text: jsonl + "\n", want: oneWrite, warning: "no closing line"},
		{rule: "JSON lines with a closing line that counts more", text: jsonl + "\n" + `{"end":true,"events":3}`, want: oneWrite, warning: "tells of 3 events but there are 2"},
		{rule: "history.txt", text: "0\t:invoke\t:write\t1\n:nemesis\t:info\t:start\tnil\n0\t:ok\t:write\t1\n", want: oneWrite, faults: 1},
		{rule: "history.txt: bracketed tuples", text: "[0\t:invoke\t:write\t1]\n[0\t:ok\t:write\t1]\n", want: oneWrite},
		{rule: "log: the form of Jepsen's console", text: "INFO  jepsen.util - 0\t:invoke\t:write\t1\nsomething else\nINFO  jepsen.util - 0  :ok  :write  1\n", want: oneWrite},
		{rule: "log: the form of jepsen.log", text: "INFO [2021-02-23 10:30:56,288] jepsen worker 0 - jepsen.util 0\t:invoke\t:write\t1\n {:type :info, :f 1}\nNFO [2021] jepsen.util 0\t:ok\t:write\t1\n", want: oneWrite},
		{rule: "no index and no time", text: ednInvoke + ednOK, want: oneWrite},
		{rule: "sparse index", text: jsonEvent(3, "0", "invoke", "1") + "\n" + jsonEvent(9, "0", "ok", "1") + closingTwo, want: oneWrite, whole: true},
		{rule: "index from 1", text: jsonEvent(1, "0", "invoke", "1") + "\n" + jsonEvent(2, "0", "ok", "1") + closingTwo, want: oneWrite, whole: true},
		{rule: "time running backwards keeps the order", text: strings.Replace(ednInvoke, "}", " :time 9}", 1) + strings.Replace(ednOK, "}", " :time 3}", 1), want: oneWrite, warning: "time runs backwards once, first at line 1"},
		{rule: "a process used again after info is a new one", text: ednInvoke + `{:type :info :f :write :value nil :process 0}` + ednInvoke + ednOK, want: "write 1 -> nil Unknown; " + oneWrite, warning: "new process"},
		{rule: "an info of a client that invoked nothing is ignored", text: `{:type :info :f :crash :process 0}` + ednInvoke + ednOK, want: oneWrite, warning: "info with nothing invoked"},
		{rule: "an open invoke is unknown", text: ednInvoke, want: "write 1 -> nil Unknown"},
		{rule: "nemesis pair and lone nemesis event", text: `{:type :info :f :start :process :nemesis}{:type :info :f :start :process :nemesis}{:type :info :f :stop :process :nemesis}` + ednInvoke + ednOK, want: oneWrite, faults: 3},
		{rule: "nemesis values of any form", text: `{:type :info :f :start :process :nemesis :value {"n2" #{"n5" "n4"}}}{:type :info :f :start :process :nemesis :value "Cut off {…}"}{:type :info :f :a :process :nemesis :value :one}{:type :info :f :a :process :nemesis :value #{1}}` + ednInvoke + ednOK, want: oneWrite, faults: 4},
		{rule: "a fail with another value keeps the invoke's", text: ednInvoke + `{:type :fail, :f :write, :value [:negative 3], :process 0}`, want: "write 1 -> nil Failed"},
		{rule: "an info without value keeps the invoke's", text: ednInvoke + `{:type :info, :f :write, :value nil, :process 0}`, want: "write 1 -> nil Unknown"},
		{rule: "an ok's value replaces the invoke's", text: ednInvoke + strings.Replace(ednOK, "1", "2", 1), want: "write 2 -> nil Happened"},
		{rule: "an ok read of nil happened", text: "0 :invoke :read nil\n0 :ok :read nil\n", want: "read nil -> nil Happened"},
		{rule: "a cas has its expected value as argument and the new one as result", text: "0 :invoke :cas [1 2]\n0 :ok :cas [1 2]\n", want: "cas 1 -> 2 Happened"},
		{rule: "keyed", text: "0 :invoke :read [7 nil]\n0 :ok :read [7 3]\n", keyed: true, want: "read 7 nil -> 3 Happened"},
		{rule: "not keyed", text: "0 :invoke :read [7 nil]\n0 :ok :read [7 3]\n", want: "read [7 nil] -> [7 3] Happened"},
		{rule: "keyed: a fail or info may carry anything", text: "0 :invoke :write [7 1]\n0 :info :write :timed-out\n", keyed: true, want: "write 7 1 -> nil Unknown"},
		{rule: "errors of any form", text: ednInvoke + `{:type :fail :f :write :process 0 :error nil}` + ednInvoke + `{:type :fail :f :write :process 0 :error :timeout}` + ednInvoke + `{:type :fail :f :write :process 0 :error [:no-client "a {b"]}` + ednInvoke + `{:type :fail :f :write :process 0 :error :jepsen.client/timeout}`, want: strings.TrimSuffix(strings.Repeat("write 1 -> nil Failed; ", 4), "; ")},
		{rule: "exceptions with symbols and objects", text: ednInvoke + `{:type :info :f :write :process 0 :exception {:via [{:type java.lang.Foo :at [a$b__1 <init> "x" 3]}] :o #object[clojure.lang.Atom 0x1f "x"]}}`, want: "write 1 -> nil Unknown"},
		{rule: "the last line cut off", text: jsonl + "\n" + `{"index":2,"process":1,"ty`, want: oneWrite, warning: "cut off"},
		{rule: "the last map cut off", text: ednInvoke + ednOK + `{:type :inv`, want: oneWrite, warning: "cut off"},
		{rule: "the closing bracket cut off", text: "[" + ednInvoke + ednOK, want: oneWrite, warning: "ends before"},
		{rule: "byte order mark and CRLF", text: "\ufeff" + strings.ReplaceAll(jsonl+closingTwo, "\n", "\r\n"), want: oneWrite, whole: true},
		{rule: "gzip", text: compress(t, jsonl+closingTwo, "gzip"), want: oneWrite, whole: true},
		{rule: "zstd", text: compress(t, jsonl+closingTwo, "zstd"), want: oneWrite, whole: true},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			h, err := ReadHistory(strings.NewReader(test.text), ReadOptions{Keyed: test.keyed})
			if err != nil {
				t.Fatal(err)
			}
			if got := show(h); got != test.want {
				t.Errorf("operations:\n got %s\nwant %s", got, test.want)
			}
			if h.Whole != test.whole {
				t.Errorf("whole = %v, want %v", h.Whole, test.whole)
			}
			if len(h.Faults) != test.faults {
				t.Errorf("%d faults, want %d", len(h.Faults), test.faults)
			}
			warnings := strings.Join(h.Warnings, "\n")
			if (test.warning == "") != (warnings == "") || !strings.Contains(warnings, test.warning) {
				t.Errorf("warnings %q, want %q", warnings, test.warning)
			}
		})
	}
}

func TestReaderRefuses(t *testing.T) {
	tests := []struct {
		rule, text, want string
		keyed            bool
	}{
		{rule: "duplicate index", text: jsonEvent(0, "0", "invoke", "1") + "\n" + jsonEvent(0, "0", "ok", "1"), want: "h:2: expected every index once, found 0 again; it is also at line 1"},
		{rule: "missing process", text: `{"type":"invoke","f":"read"}`, want: "h:1:1: expected a process"},
		{rule: "nil process", text: `{:type :invoke :f :read :process nil}`, want: "h:1:34: expected the process"},
		{rule: "double invoke", text: ednInvoke + "\n" + ednInvoke, want: "h:2: process 0 invokes \"write\" while its operation invoked at line 1 is still open"},
		{rule: "completion without invoke", text: "\n" + ednOK, want: "h:2: process 0 completes \"write\" with ok but has invoked nothing"},
		{rule: "mixed keyed values", text: "0 :invoke :read [7 nil]\n0 :ok :read 3\n", keyed: true, want: "h:2: expected the value to be [key value]"},
		{rule: "unknown type", text: ednInvoke + "\n{:type :okay :process 0}", want: "h:2:8: expected the type to be invoke, ok, fail or info, found \":okay\""},
		{rule: "empty file", text: "", want: "h: expected a history, found an empty file"},
		{rule: "no events", text: "[]", want: "h: expected a history, found no event"},
		{rule: "Jepsen's binary file", text: "JEPSEN\x00\x00", want: "h: expected text, found Jepsen's binary test.jepsen"},
		{rule: "broken line in the middle", text: jsonEvent(0, "0", "invoke", "1") + "\n{\"ty\n" + jsonEvent(1, "0", "ok", "1"), want: "h:2:5: expected the rest of a string, found the end of the text"},
		{rule: "unknown line in history.txt", text: "0\t:invoke\t:read\tnil\n0\t:okay\t:read\tnil\n", want: "h:2: expected process, type"},
		{rule: "more after the closing line", text: `{"end":true,"events":0}` + "\n" + jsonEvent(0, "0", "invoke", "1"), want: "h:2: expected nothing after the closing line"},
		{rule: "cas that is no pair", text: "0\t:invoke\t:cas\t1\n", want: "h:1: expected the value of a cas to be [expected new], found \"1\""},
		{rule: "deep nesting", text: ednInvoke + strings.Repeat("[", 1000000), want: "nest deeper"},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			_, err := ReadHistory(strings.NewReader(test.text), ReadOptions{Name: "h", Keyed: test.keyed})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error:\n got %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestEqualityIsStrictAboutKind(t *testing.T) {
	values := map[Value]string{}
	for _, text := range []string{"1", "1.0", `"1"`, ":1", "nil", "false", `""`, "[]", "#{}", "{}", `\1`, "1/2", "#a 1", "x"} {
		v, err := ParseEDN(text)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := values[v]; ok {
			t.Errorf("%s and %s are equal", text, other)
		}
		values[v] = text
	}
	for _, same := range [][2]string{{"(1 2)", "[1, 2]"}, {"#{2 1}", "#{1 2}"}, {"{:b 1 :a 2}", "{:a 2, :b 1}"}, {"1N", "1"}, {"0.0", "-0.0"}, {"2/4", "1/2"}} {
		a, errA := ParseEDN(same[0])
		b, errB := ParseEDN(same[1])
		if errA != nil || errB != nil || a != b {
			t.Errorf("%s and %s: %v %v, %v %v", same[0], same[1], a, b, errA, errB)
		}
	}
}
