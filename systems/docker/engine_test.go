package docker

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAnEngineThatIsNotThereIsNamed(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(t.TempDir(), "none.sock"))
	_, err := Connect(t.Context())
	var absent *AbsentError
	if !errors.As(err, &absent) || !strings.Contains(err.Error(), "none.sock") || !strings.Contains(err.Error(), "DOCKER_HOST") {
		t.Errorf("got %v: want an AbsentError that names the socket and what to set", err)
	}
}

// need gives the engine of this machine, with this program built for it.
func need(t *testing.T) *Engine {
	t.Helper()
	if os.Getenv("STALEMATE_DOCKER") == "" {
		t.Skip("STALEMATE_DOCKER is not set: see make test-docker")
	}
	program, err := filepath.Abs("../../bin/stalemate")
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv(ProgramVariable) == "" {
		t.Setenv(ProgramVariable, program)
	}
	e, err := Connect(t.Context())
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// left counts what a space has on the engine, and says whether it is alive.
func left(t *testing.T, e *Engine, name string) Leftover {
	t.Helper()
	all, err := e.Leftovers(context.WithoutCancel(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if l.Run == name {
			return l
		}
	}
	return Leftover{}
}

// open makes a space with two hosts, which is closed with the test.
func open(t *testing.T, e *Engine) (*Space, *Host, *Host) {
	t.Helper()
	s, err := e.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		if l := left(t, e, s.Name()); l != (Leftover{}) {
			t.Errorf("a closed space left %+v", l)
		}
	})
	var hosts [2]*Host
	for i, name := range []string{"a", "b"} {
		if hosts[i], err = s.Host(t.Context(), name, 7000); err != nil {
			t.Fatal(err)
		}
	}
	return s, hosts[0], hosts[1]
}

func TestLinksOfContainersAreCutAndHealed(t *testing.T) {
	e := need(t)
	s, a, b := open(t, e)
	if a.Address() == b.Address() || a.ClientAddr() == b.ClientAddr() || !strings.HasPrefix(a.ClientAddr(), "127.0.0.1:") {
		t.Errorf("hosts at %s and %s, for clients at %s and %s", a.Address(), b.Address(), a.ClientAddr(), b.ClientAddr())
	}
	for range 2 { // cutting twice and healing twice are no errors
		if err := s.Links().Cut("a", "b"); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := s.Links().Heal("a", "b"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Links().Cut("a", "c"); err == nil || !strings.Contains(err.Error(), `"c"`) {
		t.Errorf("a link to nobody: %v", err)
	}
	if err := s.Links().Delay("a", "b", time.Second); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a delay: %v: want errors.ErrUnsupported", err)
	}
}

func TestARunWhoseProcessIsGoneIsNotAliveAndNorAreItsNodes(t *testing.T) {
	e := need(t)
	s, a, b := open(t, e)
	m, err := a.Member(t.Context(), Command{
		Image: s.OwnImage(), Args: []string{"serve", "--store", "/"}, Log: filepath.Join(t.TempDir(), "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	if l := left(t, e, s.Name()); !l.Alive || l.Containers != 3 || l.Networks != 1 {
		t.Errorf("a running space is %+v: want it alive, with 3 containers and a network", l)
	}
	// What the end of the process does to its connections.
	a.hangUp()
	b.hangUp()
	select {
	case <-m.exit.done:
	case <-time.After(20 * time.Second):
		t.Error("the node outlives its run")
	}
	for deadline := time.Now().Add(20 * time.Second); left(t, e, s.Name()).Alive; {
		if time.Now().After(deadline) {
			t.Fatal("the hosts outlive their run")
		}
		time.Sleep(50 * time.Millisecond) // the engine tells of no end that is awaited here
	}
}

func TestANodeThatEndsByItselfSaysHow(t *testing.T) {
	e := need(t)
	s, a, _ := open(t, e)
	m, err := a.Member(t.Context(), Command{Image: s.OwnImage(), Args: []string{"node", "--config", "/none"}, Log: filepath.Join(t.TempDir(), "log")})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	<-m.exit.done
	if err := m.Died(); err == nil || !strings.Contains(err.Error(), "exit status 254") {
		t.Errorf("died: %v: want the exit status", err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

func TestAPausedNodeKeepsItsConnectionsAndAKilledOneItsFiles(t *testing.T) {
	e := need(t)
	s, a, _ := open(t, e)
	m, err := a.Member(t.Context(), Command{
		Image: s.OwnImage(), Args: []string{"serve", "--beyond-loopback", "--listen", "0.0.0.0:7000", "--store", "/data"},
		Files: []File{{Path: "/data/kept", Data: []byte("kept")}}, Log: filepath.Join(t.TempDir(), "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	if err := m.Start(); err == nil {
		t.Error("starting what runs is no error")
	}
	if err := errors.Join(m.Pause(), m.Resume(), m.Resume(), m.Pause()); err != nil {
		t.Fatal(err)
	}
	c, err := net.DialTimeout("tcp", a.ClientAddr(), 5*time.Second)
	if err != nil {
		t.Errorf("a paused node refuses connections: %v", err)
	} else {
		c.Close()
	}
	if err := m.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := m.Kill(t.Context()); err == nil {
		t.Error("killing what does not run is no error")
	}
	out := t.TempDir()
	if err := m.CopyOut(t.Context(), "/data", out); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(out, "kept")); err != nil || string(text) != "kept" {
		t.Errorf("kept: %q, %v", text, err)
	}
}

func TestACommandRunsToItsEnd(t *testing.T) {
	e := need(t)
	s, _, _ := open(t, e)
	out, err := s.Run(t.Context(), Command{Image: s.OwnImage(), Entrypoint: []string{programPath, "version"}})
	if err != nil || !strings.Contains(string(out), "stalemate") {
		t.Errorf("version prints %q, %v", out, err)
	}
	_, err = s.Run(t.Context(), Command{Image: s.OwnImage(), Args: []string{"check", "/nothing"}})
	if err == nil || !strings.Contains(err.Error(), "exit status") || !strings.Contains(err.Error(), "/nothing") {
		t.Errorf("a check of nothing: %v: want its status and what it said", err)
	}
}
