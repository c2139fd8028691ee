package zookeeper

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// orphanDir in the environment makes this test program launch an ensemble there
// and wait to be killed.
const orphanDir = "STALEMATE_TEST_ORPHANS"

// serversIn lists the processes whose command line names dir.
func serversIn(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		if line, err := os.ReadFile(f); err == nil && strings.Contains(string(line), dir) {
			found = append(found, f)
		}
	}
	return found
}

func TestNoServerOutlivesAProgramThatIsKilled(t *testing.T) {
	if dir := os.Getenv(orphanDir); dir != "" {
		e, err := Launch(t.Context(), Options{Dir: dir, TickTime: testTick})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Pause(t.Context(), "zk2"); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("launched\n")
		select {}
	}
	needServers(t)
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := exec.Command(self, "-test.run", "^"+t.Name()+"$")
	program.Env = append(os.Environ(), orphanDir+"="+dir)
	program.Stderr = os.Stderr
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "launched\n" {
		_ = program.Process.Kill()
		_ = program.Wait()
		t.Fatalf("the program says %q, %v: want launched", line, err)
	}
	if n := len(serversIn(t, dir)); n != 3 {
		t.Errorf("%d servers run before the program is killed: want 3", n)
	}
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = program.Wait()
	for begin := time.Now(); len(serversIn(t, dir)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("still there: %v", serversIn(t, dir))
		}
	}
}
