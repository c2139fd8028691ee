package histories

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// source is a history's text, decompressed and without a byte order mark.
type source struct {
	buffered *bufio.Reader
	cut      bool // the compressed data ends too early
	close    func()
}

// largestWindow bounds what a Zstandard file may ask for in memory.
const largestWindow = 128 << 20

func openSource(r io.Reader) (*source, error) {
	s := &source{close: func() {}}
	s.buffered = bufio.NewReaderSize(r, 1<<16)
	magic, _ := s.buffered.Peek(4)
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(s.buffered)
		if err != nil {
			return nil, &InputError{Message: "expected a whole gzip file: " + err.Error()}
		}
		s.buffered = bufio.NewReaderSize(&tolerant{z, s}, 1<<16)
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(s.buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(largestWindow))
		if err != nil {
			return nil, &InputError{Message: "expected a Zstandard file: " + err.Error()}
		}
		s.close = z.Close
		s.buffered = bufio.NewReaderSize(&tolerant{z, s}, 1<<16)
	}
	if mark, _ := s.buffered.Peek(3); string(mark) == "\ufeff" {
		if _, err := s.buffered.Discard(3); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *source) Read(b []byte) (int, error) { return s.buffered.Read(b) }

// tolerant takes a compressed file that is cut off for one that ends there, and
// remembers it.
type tolerant struct {
	r io.Reader
	s *source
}

func (t *tolerant) Read(b []byte) (int, error) {
	n, err := t.r.Read(b)
	switch {
	case err == nil || err == io.EOF:
	case errors.Is(err, io.ErrUnexpectedEOF):
		t.s.cut = true
		err = io.EOF
	default:
		err = &InputError{Message: "expected sound compressed data: " + err.Error()}
	}
	return n, err
}

// detect tells the format by how the text begins.
func detect(r *bufio.Reader) (Format, error) {
	head, err := r.Peek(r.Size())
	if err != nil && err != io.EOF && len(head) == 0 {
		return Auto, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("JEPSEN")):
		return Auto, &InputError{Message: "expected text, found Jepsen's binary test.jepsen; give the history.edn that stands beside it"}
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return Auto, &InputError{Message: "expected UTF-8, found UTF-16; convert the file first"}
	case bytes.IndexByte(head, 0) >= 0 || len(head) > 0 && (head[0] == 0xef || head[0] >= 0xf8):
		return Auto, &InputError{Message: "expected text, found binary data (perhaps Jepsen's test.fressian; give the history.edn that stands beside it)"}
	}
	text := bytes.TrimLeft(head, " \t\r\n,")
	if len(text) == 0 {
		return Auto, &InputError{Message: "expected a history, found an empty file"}
	}
	switch text[0] {
	case '{':
		return detectMap(text), nil
	case '[':
		inner := bytes.TrimLeft(text[1:], " \t\r\n,")
		line, _, _ := bytes.Cut(text, []byte{'\n'})
		line = bytes.TrimRight(line, "\r \t")
		if found, _, _ := textEvent(new(Event), line, nil); found {
			return Text, nil
		}
		switch {
		case len(inner) > 0 && inner[0] == '{':
			if f := detectMap(inner); f == EDN {
				return EDN, nil
			}
			return JSON, nil
		case len(inner) > 0 && (inner[0] == ';' || inner[0] == '#'):
			return EDN, nil
		case len(inner) == 0 || inner[0] == ']' || inner[0] == '"' || inner[0] == '[':
			return JSON, nil
		case inner[0] == '(' || inner[0] == ':':
			return EDN, nil
		}
		return Text, nil
	case '(', ';', '#':
		return EDN, nil
	}
	return Text, nil
}

// detectMap tells the format of what begins with a brace: EDN where no quote
// follows, JSONL where the first object ends on its line, else JSON.
func detectMap(text []byte) Format {
	inner := bytes.TrimLeft(text[1:], " \t\r\n,")
	if len(inner) > 0 && inner[0] != '"' && inner[0] != '}' {
		return EDN
	}
	line, _, found := bytes.Cut(text, []byte{'\n'})
	p := jsonParser{buf: line, final: true}
	if _, err := p.object(); found && isCut(err) {
		return JSON
	}
	return JSONL
}
