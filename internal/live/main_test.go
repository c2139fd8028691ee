package live

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/stalemate-io/stalemate/systems/processes"
)

// The test program is also the program that runs a node, as stalemate is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "node" {
		os.Exit(runNode(os.Args[len(os.Args)-1]))
	}
	goleak.VerifyTestMain(m)
}

func runNode(file string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c, err := processes.ReadConfig(file)
	if err == nil {
		err = processes.Run(ctx, c)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
