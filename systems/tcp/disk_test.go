package tcp

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// crashWriter makes the test binary write to the disk in a folder until it is
// killed, for a test that needs a process to kill.
const crashWriter = "STALEMATE_TEST_CRASH_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashWriter); dir != "" {
		writeUntilKilled(dir)
	}
	goleak.VerifyTestMain(m)
}

// opened is a disk with its journal, whose callbacks run at once.
func opened(t *testing.T, dir string) (*disk, *journal) {
	t.Helper()
	j, c, _, err := openJournal(dir, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.close() })
	return newDisk(j, c, func(f func()) { f() }), j
}

func await(t *testing.T, d *disk) {
	t.Helper()
	done := make(chan struct{})
	d.Sync(func() { close(done) })
	<-done
}

func TestWhatIsSyncedIsThereAfterACrash(t *testing.T) {
	dir := t.TempDir()
	d, _ := opened(t, dir)
	d.Append("log", []byte("a"), []byte("b"), []byte("c"))
	d.Truncate("log", 2)
	d.Write("file", []byte("old"))
	d.Write("file", []byte("new"))
	await(t, d)
	// Nobody closes the first: the process that had it is gone.
	e, err := ReadDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%s %s", e.Records("log"), e.Read("file")); got != "[a b] new" {
		t.Errorf("after the crash: %s", got)
	}
	if e.Read("other") != nil || len(e.Records("other")) != 0 {
		t.Error("there is something under a name that nobody wrote to")
	}
}

func TestAJournalIsWrittenAnewWhenItIsMostlyHistory(t *testing.T) {
	dir := t.TempDir()
	d, j := opened(t, dir)
	const size = 64 << 10
	for i := range 3 * compactFrom / size {
		block := make([]byte, size)
		binary.BigEndian.PutUint32(block, uint32(i))
		d.Write("file", block)
		d.Append("log", block[:4])
	}
	await(t, d)
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, journalName))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > compactFrom+compactFrom/4 {
		t.Errorf("the journal has %d bytes for a content of %d", info.Size(), d.size())
	}
	e, err := ReadDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !same(d.content, e.(*disk).content) {
		t.Error("the new journal holds something else")
	}
	d, _ = opened(t, dir)
	d.Append("log", []byte("more"))
	await(t, d)
	if e, err = ReadDisk(dir); err != nil || !same(d.content, e.(*disk).content) {
		t.Errorf("going on with the new journal: %v", err)
	}
}

func TestATornEndIsCutOffOnceAndForAll(t *testing.T) {
	dir := t.TempDir()
	d, j := opened(t, dir)
	d.Append("log", []byte("whole"))
	await(t, d)
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, journalName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(whole, whole[:len(whole)-1]...), 0o644); err != nil {
		t.Fatal(err)
	}
	j, c, torn, err := openJournal(dir, func(err error) { t.Error(err) })
	if err != nil || torn != len(whole)-1 || len(c.logs["log"]) != 1 {
		t.Fatalf("%v, %d bytes torn, %d records", err, torn, len(c.logs["log"]))
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(whole) {
		t.Errorf("%v; the journal has %d bytes, want %d", err, len(now), len(whole))
	}
}

func TestADiskThatCannotBeWrittenStopsAndAcknowledgesNothing(t *testing.T) {
	failed := make(chan error, 1)
	j, c, _, err := openJournal(t.TempDir(), func(err error) { failed <- err })
	if err != nil {
		t.Fatal(err)
	}
	d := newDisk(j, c, func(f func()) { f() })
	j.file.Close() // any error of the file will do
	d.Append("log", []byte("lost"))
	d.Sync(func() { t.Error("a Sync that failed was reported done") })
	if err := <-failed; err == nil {
		t.Error("want the error")
	}
	j.close()
}

// writeUntilKilled appends numbers to a log, in turn with replacing a file by
// the last of them, and says on standard output which of them are durable.
func writeUntilKilled(dir string) {
	j, c, _, err := openJournal(dir, func(err error) { fmt.Println(err) })
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	d := newDisk(j, c, func(f func()) { f() })
	for i := len(d.Records("log")); ; i++ {
		text := []byte(strconv.Itoa(i))
		d.Append("log", text)
		d.Write("file", text)
		done := make(chan struct{})
		d.Sync(func() { close(done) })
		if i%3 == 0 {
			<-done
			fmt.Println(i)
		}
	}
}

func TestAKilledProcessLosesNothingThatWasSynced(t *testing.T) {
	dir := t.TempDir()
	for range 5 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), crashWriter+"="+dir)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 7 {
			lines.Scan()
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		last := lines.Text()
		for lines.Scan() {
			last = lines.Text()
		}
		_ = c.Wait()
		safe, err := strconv.Atoi(strings.TrimSpace(last))
		if err != nil {
			t.Fatalf("the writer said %q", last)
		}
		d, err := ReadDisk(dir)
		if err != nil {
			t.Fatal(err)
		}
		log := d.Records("log")
		for i, r := range log {
			if string(r) != strconv.Itoa(i) {
				t.Fatalf("record %d is %q", i, r)
			}
		}
		file := string(d.Read("file"))
		if len(log) <= safe || file != strconv.Itoa(len(log)-1) && file != strconv.Itoa(len(log)-2) {
			t.Fatalf("%d records and a file that says %s survived; %d were durable", len(log), file, safe+1)
		}
	}
}
