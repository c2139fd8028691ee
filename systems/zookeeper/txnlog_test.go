package zookeeper

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/histories"
)

// logWriter writes transaction logs as servers do.
type logWriter struct{ bytes.Buffer }

func newLogWriter() *logWriter {
	w := &logWriter{}
	w.Write(jute(int32(txnMagic), int32(txnVersion), int64(0)))
	return w
}

// jute gives values their serial form: strings and bytes behind their length.
func jute(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		switch v := v.(type) {
		case string:
			b.Write(jute([]byte(v)))
		case []byte:
			binary.Write(&b, binary.BigEndian, int32(len(v)))
			b.Write(v)
		case txnType:
			binary.Write(&b, binary.BigEndian, int32(v))
		default:
			binary.Write(&b, binary.BigEndian, v)
		}
	}
	return b.Bytes()
}

// record adds a transaction of one type and content.
func (w *logWriter) record(zxid int64, kind txnType, content ...any) *logWriter {
	body := append(jute(int64(0x10), int32(1), zxid, int64(1_700_000_000_123), kind), jute(content...)...)
	w.Write(jute(int64(adler32.Checksum(body)), body))
	w.WriteByte(endOfTxn)
	return w
}

func (w *logWriter) create(zxid int64, path, data string) *logWriter {
	return w.record(zxid, txnCreate, path, data, int32(1), int32(31), "world", "anyone", false, int32(1))
}

func (w *logWriter) set(zxid int64, path, data string, version int32) *logWriter {
	return w.record(zxid, txnSetData, path, data, version)
}

func (w *logWriter) zeros(n int) *logWriter { w.Write(make([]byte, n)); return w }

// tellLog reads a log and tells what it holds in one line.
func tellLog(log []byte) string {
	var told []string
	torn, err := readTxnLog(bytes.NewReader(log), func(t txn) error {
		for _, c := range t.Changes {
			told = append(told, fmt.Sprintf("%x:%s=%s v%d", t.Zxid, c.Path, c.Data, c.Version))
		}
		if len(t.Changes) == 0 {
			told = append(told, fmt.Sprintf("%x:-", t.Zxid))
		}
		return nil
	})
	if torn {
		told = append(told, "torn")
	}
	if err != nil {
		told = append(told, err.Error())
	}
	return strings.Join(told, " ")
}

func TestTransactionLog(t *testing.T) {
	two := func() *logWriter { return newLogWriter().create(1, "/r", "5").set(2, "/r", "6", 1) }
	const both = "1:/r=5 v0 2:/r=6 v1"
	damaged := two().Bytes()
	damaged[len(damaged)-3] ^= 1
	for name, c := range map[string]struct {
		log  []byte
		want string
	}{
		"a file that was made and not written is empty":  {nil, ""},
		"a header alone is a log without records":        {newLogWriter().Bytes(), ""},
		"records end with the file":                      {two().Bytes(), both},
		"or with the zeros that it was given in advance": {two().zeros(1000).Bytes(), both},
		"even a few of them":                             {two().zeros(5).Bytes(), both + " torn"},
		"a multi holds its parts": {newLogWriter().record(7, txnMulti, int32(3),
			txnType(13), jute("/r", int32(3)), txnSetData, jute("/r", "6", int32(4)), txnCreate, jute("/q", "1")).Bytes(), "7:/r=6 v4 7:/q=1 v0"},
		"a multi that failed holds errors": {newLogWriter().record(7, txnMulti, int32(2),
			txnType(-1), jute(int32(-103)), txnType(-1), jute(int32(0))).Bytes(), "7:-"},
		"sessions change no znode":                          {newLogWriter().record(3, -10, int32(4000)).record(4, -11).Bytes(), "3:- 4:-"},
		"nor do types that are not known":                   {newLogWriter().record(3, 99, "anything").Bytes(), "3:-"},
		"a digest of the tree may follow":                   {newLogWriter().record(3, txnSetData, "/r", "6", int32(1), int32(2), int64(77)).Bytes(), "3:/r=6 v1"},
		"data may be null":                                  {newLogWriter().record(3, txnCreate, "/r", int32(-1)).Bytes(), "3:/r= v0"},
		"a deletion has no data":                            {newLogWriter().record(3, txnDelete, "/r").Bytes(), "3:/r= v0"},
		"a wrong magic is refused":                          {[]byte("PNG.............."), `expected a ZooKeeper transaction log, which begins with ZKLG, found "PNG."`},
		"a later version is refused":                        {jute(int32(txnMagic), int32(3), int64(0)), "expected version 2 of the transaction log, found 3"},
		"a server may log once more what it was sent again": {newLogWriter().set(2, "/r", "1", 1).set(3, "/r", "2", 2).set(2, "/r", "1", 1).Bytes(), "2:/r=1 v1 3:/r=2 v2 2:/r=1 v1"},
		"a record too short for its type is refused":        {newLogWriter().record(3, txnSetData, "/r").Bytes(), "record at byte 16: zxid 0x3, type 5: expected 4 bytes for a number, found 0"},
		"a negative length of a path is refused":            {newLogWriter().record(3, txnDelete, int32(-2)).Bytes(), "record at byte 16: zxid 0x3, type 2: expected the length of a path, found -2"},
		"a length that no record has is refused":            {append(newLogWriter().Bytes(), jute(int64(9), int32(5))...), "record at byte 16: expected a record of 32 to 67108864 bytes, found the length 5"},
		"a multi inside a multi is refused":                 {newLogWriter().record(7, txnMulti, int32(1), txnMulti, jute(int32(0))).Bytes(), "record at byte 16: zxid 0x7, type 14: found a multi inside a multi"},
		"a damaged record that was written to its end":      {damaged, "1:/r=5 v0 record at byte 104: expected the checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			got := tellLog(c.log)
			if got != c.want && !(c.want != "" && strings.HasSuffix(c.want, "checksum") && strings.HasPrefix(got, c.want)) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A log may be cut anywhere: what was written to its end is read, and nothing
// else.
func TestATornTailIsLeftOut(t *testing.T) {
	first := newLogWriter().create(1, "/r", "5").Len()
	whole := newLogWriter().create(1, "/r", "5").set(2, "/r", "6", 1).Bytes()
	for cut := first; cut < len(whole); cut++ {
		want := "1:/r=5 v0"
		if cut > first {
			want += " torn"
		}
		if got := tellLog(whole[:cut]); got != want {
			t.Errorf("cut at %d of %d: got %s, want %s", cut, len(whole), got, want)
		}
	}
	// With zeros from there to the end of the file; up to the first byte of the
	// checksum that is not zero, nothing shows that a record was begun.
	for cut := first; cut < len(whole); cut++ {
		log := append(slices.Clone(whole[:cut]), make([]byte, 200)...)
		if got := strings.TrimSuffix(tellLog(log), " torn"); got != "1:/r=5 v0" && !strings.Contains(got, "found the length") {
			t.Errorf("zeros from %d of %d: got %s", cut, len(whole), got)
		}
	}
}

// writeLogs makes the data folder of a server with one log file for each writer,
// named after the zxids given.
func writeLogs(t *testing.T, files map[string]*logWriter) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "version-2"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, w := range files {
		if err := os.WriteFile(filepath.Join(dir, "version-2", name), w.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLogOfAnEnsemble(t *testing.T) {
	base := func() *logWriter {
		return newLogWriter().create(1, "/run", "").create(2, "/run/r0", "5").create(3, "/run/noop-1", "").create(4, "/other/r0", "8")
	}
	one := func(w *logWriter) string { return writeLogs(t, map[string]*logWriter{"log.1": w}) }
	for name, c := range map[string]struct {
		dirs []string
		want string
	}{
		"what a majority logged was committed": {
			[]string{one(base().set(5, "/run/r0", "6", 1)), one(base().set(5, "/run/r0", "6", 1)), one(base())}, "2:r0=5v0 5:r0=6v1"},
		"what a minority logged is uncertain": {
			[]string{one(base().set(5, "/run/r0", "6", 1)), one(base()), one(base())}, "2:r0=5v0 5:r0=6v1?"},
		"unless another write was committed as its version": {
			[]string{one(base().set(5, "/run/r0", "6", 1)), one(base().set(0x100000001, "/run/r0", "7", 1)), one(base().set(0x100000001, "/run/r0", "7", 1))},
			"2:r0=5v0 100000001:r0=7v1"},
		"what one server logged twice counts once": {
			[]string{one(base().set(5, "/run/r0", "6", 1).set(6, "/run/r0", "7", 2).set(5, "/run/r0", "6", 1)), one(base()), one(base())}, "2:r0=5v0 5:r0=6v1? 6:r0=7v2?"},
		"a server that logged different writes under one zxid is an error": {
			[]string{one(base().set(5, "/run/r0", "6", 1).set(5, "/run/r0", "7", 1))}, "logged different writes under zxid 0x5"},
		"files follow each other by zxid, not by name": {
			[]string{writeLogs(t, map[string]*logWriter{
				"log.9": base(), "log.a": newLogWriter().set(10, "/run/r0", "6", 1), "log.10": newLogWriter().set(16, "/run/r0", "7", 2), "snapshot.0": {}})},
			"2:r0=5v0 a:r0=6v1 10:r0=7v2"},
		"a file that was not written to its end is followed by the next": {
			[]string{writeLogs(t, map[string]*logWriter{"log.1": base().zeros(3), "log.a": newLogWriter().set(10, "/run/r0", "6", 1)})}, "2:r0=5v0 a:r0=6v1"},
		"servers that logged different writes under one zxid are an error": {
			[]string{one(base().set(5, "/run/r0", "6", 1)), one(base().set(5, "/run/r0", "7", 1)), one(base())}, "logged different writes under zxid 0x5"},
		"a deleted register is an error":            {[]string{one(base().record(5, txnDelete, "/run/r0"))}, "register r0 was deleted"},
		"data that is no number is an error":        {[]string{one(base().set(5, "/run/r0", "x", 1))}, `expected a number, found "x"`},
		"a server without a log folder is an error": {[]string{t.TempDir()}, "transaction logs of a server"},
	} {
		t.Run(name, func(t *testing.T) {
			log, err := Log(c.dirs, "/run")
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %s", err, c.want)
				}
				return
			}
			if !log.Complete {
				t.Error("not complete, though all servers have stopped")
			}
			if got := tellWrites(log); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func tellWrites(log *histories.Log) string {
	var told []string
	for _, w := range log.Writes {
		s := fmt.Sprintf("%x:%s=%sv%s", w.Order, w.Key, w.Value, w.Version)
		if w.Uncertain {
			s += "?"
		}
		told = append(told, s)
	}
	return strings.Join(told, " ")
}

func FuzzReadTxnLog(f *testing.F) {
	f.Add(newLogWriter().create(1, "/r", "5").set(2, "/r", "6", 1).zeros(64).Bytes())
	f.Add(newLogWriter().record(7, txnMulti, int32(1), txnSetData, jute("/r", "6", int32(4))).Bytes())
	f.Fuzz(func(t *testing.T, log []byte) {
		held := 0
		readTxnLog(bytes.NewReader(log), func(r txn) error {
			for _, c := range r.Changes {
				held += len(c.Path) + len(c.Data)
			}
			return nil
		})
		if held > len(log) {
			t.Fatalf("%d bytes of paths and data in a log of %d", held, len(log))
		}
	})
}
