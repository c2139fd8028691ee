package main

import (
	"strings"
	"testing"
)

func TestOverheadIsMeasured(t *testing.T) {
	table, err := overhead(50)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(table, " µs") != 8 || strings.Contains(table, " 0.0 µs") {
		t.Errorf("want a median and a p99 for each of four parts, none of which takes no time:\n%s", table)
	}
}
