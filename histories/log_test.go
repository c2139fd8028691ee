package histories

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLogsAreReadAsTheyWereWritten(t *testing.T) {
	for name, log := range map[string]*Log{
		"complete": {Complete: true, Writes: []LogWrite{
			{Order: 4294967297, Key: String("r0"), Value: Int(1), Version: At(0)},
			{Order: 4294967298, Key: String("r1"), Value: Nil, Version: At(0), Uncertain: true},
			{Order: 4294967298, Key: Nil, Value: List(Int(1), String("a")), Version: Version{}},
		}},
		"empty":      {Complete: true},
		"incomplete": {Writes: []LogWrite{{Key: Int(7), Value: Keyword("x"), Version: At(3)}}},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := AppendLog(nil, log)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ReadLog(strings.NewReader(string(text)), "")
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			if d := cmp.Diff(log, got, cmp.AllowUnexported(Value{}, Version{})); d != "" {
				t.Errorf("from\n%s(-written +read)\n%s", text, d)
			}
		})
	}
}

func TestALogThatWasCutOffIsNotComplete(t *testing.T) {
	const whole = `{"order":1,"key":"k","value":5,"version":0}
{"order":2,"key":"k","value":6,"version":1}
{"end":true,"writes":2,"complete":true}
`
	for cut := range len(whole) - len("\n") {
		log, err := ReadLog(strings.NewReader(whole[:cut]), "")
		if err != nil {
			t.Fatalf("cut after %q: %v", whole[:cut], err)
		}
		if log.Complete {
			t.Fatalf("cut after %q: complete", whole[:cut])
		}
	}
}

func TestBadLogsAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a broken line before the last": {"{\"order\":\n{\"end\":true}\n", "f:1: expected an object"},
		"an order that falls":           {"{\"order\":2,\"value\":1}\n{\"order\":1,\"value\":2}\n", "f:2: expected an order not below 2, found 1"},
		"no value":                      {"{\"order\":2}\n", "f:1: expected a write with order and value"},
		"no order":                      {"{\"value\":2}\n", "f:1: expected a write with order and value"},
		"a negative version":            {"{\"order\":2,\"value\":1,\"version\":-1}\n", "f:1: expected a version from 0, found -1"},
		"another number of writes":      {"{\"order\":2,\"value\":1}\n{\"end\":true,\"writes\":2}\n", "f:2: expected 2 writes before the closing line, found 1"},
		"more after the end":            {"{\"end\":true}\n{\"order\":2,\"value\":1}\n", "f:2: expected nothing after the closing line"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadLog(strings.NewReader(c.text), "f")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add("{\"order\":1,\"key\":\"k\",\"value\":5,\"version\":0}\n{\"end\":true,\"writes\":1,\"complete\":true}\n")
	f.Fuzz(func(t *testing.T, text string) {
		log, err := ReadLog(strings.NewReader(text), "")
		if err != nil {
			return
		}
		once, err := AppendLog(nil, log)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadLog(strings.NewReader(string(once)), "")
		if err != nil {
			t.Fatalf("%v in %s", err, once)
		}
		if d := cmp.Diff(log, again, cmp.AllowUnexported(Value{}, Version{})); d != "" {
			t.Error(d)
		}
	})
}
