//go:build unix

package local

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// soon bounds what has to happen.
const soon = 10 * time.Second

func TestMain(m *testing.M) {
	if log := os.Getenv("STALEMATE_TEST_PARENT"); log != "" {
		parent(log)
	}
	goleak.VerifyTestMain(m)
}

// parent is a program that starts a process and waits to be killed.
func parent(log string) {
	p, err := Start(Command{Path: "/bin/sh", Args: []string{"-c", "exec sleep 600"}, Log: log})
	if err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Stdout.WriteString(strconv.Itoa(p.Pid()) + "\n")
	select {}
}

// run starts a shell script that ends with the test.
func run(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start(Command{Path: "/bin/sh", Args: []string{"-c", script}, Log: filepath.Join(t.TempDir(), "new", "log")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func ended(t *testing.T, p *Process) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(soon):
		t.Fatal("the process has not ended")
	}
}

// await asks until cond holds.
func await(t *testing.T, want string, cond func() bool) {
	t.Helper()
	for begin := time.Now(); !cond(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > soon {
			t.Fatalf("waited in vain for %s", want)
		}
	}
}

// alive says whether a process is there and has not ended. One that has ended
// and that nobody has reaped counts as gone.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	state := strings.TrimSpace(string(out))
	return err == nil && state != "" && !strings.HasPrefix(state, "Z")
}

func TestTheEndOfAProcessIsNoticedWithItsStatusAndLog(t *testing.T) {
	p := run(t, "for i in 1 2 3; do echo line $i; done; echo last >&2; exit 7")
	ended(t, p)
	var exit *exec.ExitError
	if !errors.As(p.Err(), &exit) || exit.ExitCode() != 7 {
		t.Errorf("ended with %v: want exit status 7", p.Err())
	}
	if got := p.Tail(2); got != "line 3\nlast" {
		t.Errorf("the log ends with %q: want the last two lines", got)
	}
	if err := p.Pause(); !errors.Is(err, ErrExited) {
		t.Errorf("pausing it: %v: want ErrExited", err)
	}
}

func TestAProgramThatIsNotThereIsAnError(t *testing.T) {
	_, err := Start(Command{Path: "/nowhere/java", Log: filepath.Join(t.TempDir(), "log")})
	if err == nil || !strings.Contains(err.Error(), "/nowhere/java") {
		t.Errorf("%v: want an error that names the program", err)
	}
}

func TestAPausedProcessDoesNothingUntilResumed(t *testing.T) {
	// The shell starts no child: one that is stopped between vfork and exec
	// would leave its parent waiting, which ps does not show as stopped.
	p := run(t, "while :; do echo tick; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; done")
	size := func() int64 {
		info, err := os.Stat(p.log)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	await(t, "the first tick", func() bool { return size() > 0 })
	if err := p.Pause(); err != nil {
		t.Fatal(err)
	}
	await(t, "the process to stop", func() bool {
		out, _ := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(p.Pid())).Output()
		return strings.HasPrefix(string(out), "T")
	})
	before := size()
	time.Sleep(50 * time.Millisecond)
	if after := size(); after != before {
		t.Errorf("it wrote %d bytes while paused", after-before)
	}
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	await(t, "another tick", func() bool { return size() > before })
}

func TestCloseEndsAProcessThatIsPausedAndOneThatIgnoresSignals(t *testing.T) {
	p := run(t, "trap '' TERM INT HUP; echo ready; while :; do sleep 600; done")
	await(t, "the script to begin", func() bool { return p.Tail(1) == "ready" })
	if err := p.Pause(); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("closing it again: %v", err)
	}
	if alive(p.Pid()) {
		t.Error("it is still there")
	}
}

func TestTheEndOfAProcessIsTheEndOfItsChildren(t *testing.T) {
	p := run(t, "sleep 600 & echo $!")
	ended(t, p)
	child, err := strconv.Atoi(p.Tail(1))
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the child to end", func() bool { return !alive(child) })
}

func TestTerminateLetsAProcessEndByItself(t *testing.T) {
	p := run(t, "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done")
	await(t, "the script to begin", func() bool { return p.Tail(1) == "ready" })
	if err := p.Pause(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	if err := p.Terminate(ctx); err != nil {
		t.Fatal(err)
	}
	if got := p.Tail(1); got != "bye" {
		t.Errorf("its last line is %q: want bye", got)
	}
}

func TestTerminateKillsAProcessThatDoesNotEnd(t *testing.T) {
	p := run(t, "trap '' TERM; echo ready; while :; do sleep 600; done")
	await(t, "the script to begin", func() bool { return p.Tail(1) == "ready" })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Terminate(ctx); err != nil {
		t.Fatal(err)
	}
	if alive(p.Pid()) {
		t.Error("it is still there")
	}
}

func TestAProcessDiesWithAProgramThatIsKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := exec.Command(self)
	program.Env = append(os.Environ(), "STALEMATE_TEST_PARENT="+filepath.Join(t.TempDir(), "log"))
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("the program says %q: want the id of its child", line)
	}
	if !alive(child) {
		t.Error("the child is not there before the program is killed")
	}
	// A paused process has to die too.
	if err := syscall.Kill(child, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = program.Wait()
	await(t, "the child to die", func() bool { return !alive(child) })
}

// The watchdog stands in for the parent-death signal on other systems than
// Linux, and is tested on all.
func TestTheWatchdogKillsTheGroupWhenItsPipeEnds(t *testing.T) {
	p := run(t, "sleep 600")
	stop, err := startWatchdog(p.Pid())
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if !alive(p.Pid()) {
		t.Fatal("stopping the watchdog killed what it guards")
	}
	dog, bark, err := newWatchdog(p.Pid())
	if err != nil {
		t.Fatal(err)
	}
	bark.Close() // as the kernel does when this program dies
	ended(t, p)
	if err := dog.Wait(); err != nil {
		t.Errorf("the watchdog ended with %v", err)
	}
}

func TestReservedPortsAreHeldUntilReleased(t *testing.T) {
	p, err := ReservePorts(5)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	q, err := ReservePorts(5)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Release()
	seen := make(map[int]bool)
	for _, n := range append(p.Numbers, q.Numbers...) {
		if n < firstPort || n > lastPort {
			t.Errorf("port %d: want one between %d and %d", n, firstPort, lastPort)
		}
		if seen[n] {
			t.Errorf("port %d is reserved twice", n)
		}
		seen[n] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d ports: want 10", len(seen))
	}
}
