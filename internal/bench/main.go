// Command bench prints how fast the linearizability engines are beside
// porcupine, on the same histories, how fast the command checks a file, and what
// the tool itself adds to an operation on a live system.
// The engines are not exported, so it runs the package's own table.
package main

import (
	"fmt"
	"os"
	"os/exec"
)

func main() {
	if err := bench(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench() error {
	test := exec.Command("go", "test", "./checker", "-run", "TestBenchTable", "-count", "1", "-v", "-timeout", "10m")
	test.Env = append(os.Environ(), "STALEMATE_BENCH=1")
	test.Stdout, test.Stderr = os.Stdout, os.Stderr
	if err := test.Run(); err != nil {
		return err
	}
	if err := checkEndToEnd(1_000_000, 100, 10); err != nil {
		return err
	}
	table, err := overhead(20_000)
	fmt.Print(table)
	return err
}
