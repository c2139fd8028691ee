package kafkalogs

import (
	"bufio"
	"io"
	"os"
	"strings"

	"github.com/stalemate-io/stalemate/histories"
)

// headLines is how far Detect looks.
const headLines = 200

// Detect tells whether a file begins as one that this package reads: it tells of
// leadership, or is a log of a class of Kafka's. It is false for a file that
// cannot be read.
func Detect(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := histories.Decompress(f)
	if err != nil {
		return false
	}
	defer text.Close()
	return detect(text)
}

func detect(r io.Reader) bool {
	found := false
	reader := reader{each: func(*Fact) { found = true }, others: map[string]*Other{}}
	in := bufio.NewReaderSize(r, 1<<16)
	for range headLines {
		text, err := readLine(in)
		reader.lines++
		reader.line(text)
		if l, ok := splitLine(text); ok && ofKafka(l.logger) || reader.others[logBatches] != nil || reader.others[logRecords] != nil {
			found = true
		}
		if found || err != nil {
			break
		}
	}
	return found
}

func ofKafka(logger string) bool {
	return logger == "state.change.logger" || strings.HasPrefix(logger, "kafka.") || strings.HasPrefix(logger, "org.apache.kafka.")
}
