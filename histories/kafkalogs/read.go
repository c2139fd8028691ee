package kafkalogs

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/histories"
)

// Reading says what became of a file.
type Reading struct {
	File  string
	Lines int
	// Facts is how many lines told something of leadership.
	Facts int
	// Others counts the lines that did not, by kind: the message with its
	// numbers and names taken out, most frequent first.
	Others []Other
	// Cut says that a compressed file ended before it was whole.
	Cut bool
}

// Other is a kind of line that tells nothing of leadership.
type Other struct {
	Kind  string
	Count int
	Line  int // the first of them
}

// longest is how long a line may be, shownText how much of it a Fact keeps, and
// mostKinds how many kinds of other lines are told apart.
const (
	longest   = 1 << 20
	shownText = 400
	mostKinds = 200
)

// ReadFile reads the facts of a file, which may be compressed.
func ReadFile(name string, each func(*Fact)) (*Reading, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, name, each)
}

// Read reads the facts of a text, in its order; name is what they give as their
// File.
func Read(r io.Reader, name string, each func(*Fact)) (*Reading, error) {
	text, err := histories.Decompress(r)
	if err != nil {
		return nil, withName(name, err)
	}
	defer text.Close()
	reader := reader{name: name, each: each, others: map[string]*Other{}}
	in := bufio.NewReaderSize(text, 1<<16)
	for {
		l, err := readLine(in)
		if l != "" || err == nil {
			reader.lines++
			reader.line(l)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			var fault *histories.InputError
			if !errors.As(err, &fault) {
				fault = &histories.InputError{Message: err.Error()}
			}
			fault.File, fault.Line = name, reader.lines+1
			return nil, fault
		}
	}
	return reader.reading(text.Cut()), nil
}

func withName(name string, err error) error {
	var fault *histories.InputError
	if errors.As(err, &fault) {
		fault.File = name
		return fault
	}
	return fmt.Errorf("%s: %w", name, err)
}

// readLine reads a line without its end.
func readLine(in *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		piece, err := in.ReadSlice('\n')
		if b.Len()+len(piece) > longest {
			return "", &histories.InputError{Message: fmt.Sprintf("expected a text of lines, found one of more than %d bytes", longest)}
		}
		b.Write(piece)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return strings.TrimRight(b.String(), "\r\n"), err
		}
	}
}

// Kinds of lines of a metadata log's dump that are none of a partition.
const (
	logRecords = "metadata log: other records"
	logBatches = "metadata log: batches"
)

type reader struct {
	name   string
	each   func(*Fact)
	lines  int
	facts  int
	others map[string]*Other
	log    metadataLog
	znodes znodes
}

// line looks at one line.
func (r *reader) line(text string) {
	f := Fact{
		File: r.name, Line: r.lines, Node: Unknown, Controller: Unknown, ControllerEpoch: Unknown, Correlation: Unknown,
		Offset: -1, State: unknownState(),
	}
	kind := ""
	if l, ok := splitLine(text); ok {
		f.Time = l.time
		if said(l.message, &f) {
			r.tell(f, text)
			return
		}
		_, message := splitSpeaker(l.message)
		kind = general(message)
	} else {
		trimmed := strings.TrimSpace(text)
		known, told := r.log.entry(text, &f)
		switch {
		case told || shown(text, &f) || r.znodes.state(trimmed, &f):
			r.tell(f, text)
			return
		case known:
			kind = logRecords
		case r.log.batch(trimmed):
			kind = logBatches
		case r.znodes.asked(trimmed):
			kind = "ZooKeeper: paths"
		case trimmed == "":
			kind = "empty lines"
		case strings.HasPrefix(trimmed, "at ") || strings.HasPrefix(trimmed, "Caused by: "):
			kind = "stack traces"
		default:
			kind = general(trimmed)
		}
	}
	r.other(kind)
}

func (r *reader) tell(f Fact, text string) {
	text = strings.TrimSpace(text)
	if len(text) > shownText {
		text = strings.ToValidUTF8(text[:shownText], "") + "…"
	}
	f.Text = text
	r.facts++
	r.each(&f)
}

func (r *reader) other(kind string) {
	o := r.others[kind]
	if o == nil {
		if len(r.others) >= mostKinds {
			kind = "further kinds"
			o = r.others[kind]
		}
		if o == nil {
			o = &Other{Kind: kind, Line: r.lines}
			r.others[kind] = o
		}
	}
	o.Count++
}

func (r *reader) reading(cut bool) *Reading {
	out := &Reading{File: r.name, Lines: r.lines, Facts: r.facts, Cut: cut}
	for _, o := range r.others {
		out.Others = append(out.Others, *o)
	}
	slices.SortFunc(out.Others, func(a, b Other) int { return cmp.Or(b.Count-a.Count, a.Line-b.Line) })
	return out
}

// general gives the kind of a message: its first words, without what differs
// from line to line.
func general(message string) string {
	const most = 8
	var words []string
	for _, w := range strings.Fields(message) {
		if len(words) == most {
			words = append(words, "…")
			break
		}
		if strings.ContainsAny(w, "0123456789") {
			w = "…"
		}
		if w == "…" && len(words) > 0 && words[len(words)-1] == w {
			continue
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}
