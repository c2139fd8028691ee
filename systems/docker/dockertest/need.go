// Package dockertest is for tests that run containers, which takes a Docker engine
// and the program that make build makes.
package dockertest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stalemate-io/stalemate/systems/docker"
)

// Variable in the environment, if not empty, has such tests run.
const Variable = "STALEMATE_DOCKER"

// Need skips a test where no Docker engine is to be used or none is there, and has
// containers run the program in folder bin of the module.
func Need(t testing.TB) {
	t.Helper()
	if os.Getenv(Variable) == "" {
		t.Skip(Variable + " is not set: see make test-docker")
	}
	engine, err := docker.Connect(t.Context())
	if absent := new(docker.AbsentError); errors.As(err, &absent) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
	if os.Getenv(docker.ProgramVariable) == "" {
		t.Setenv(docker.ProgramVariable, program(t))
	}
}

func program(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			return filepath.Join(root, "bin", "stalemate")
		}
		if root == filepath.Dir(root) {
			t.Fatalf("no go.mod above %s", dir)
		}
	}
}
