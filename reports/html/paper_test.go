package html

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/internal/browsertest"
)

// Whoever reads the report at night on a dark screen and prints it gets a white
// sheet with all that the screen can show.
func TestBrowserPrintsTheWholeReport(t *testing.T) {
	in := testInput(t, "long", longHistory(t, 4_000))
	screen := browsertest.Desktop
	screen.Dark = true
	b := open(t, render(t, in, MaxDrawn), screen)
	pdf := b.PDF()

	line, err := checker.NewTimeline(in.History, in.Options)
	if err != nil {
		t.Fatal(err)
	}
	page, err := newPage(in, line, MaxDrawn)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{page.Word, page.Sentence, "true order", "What each read path promised and kept", "How far behind", "What decided this run"}
	for _, a := range page.Anomalies {
		want = append(want, a.Title, a.Text)
		for _, r := range a.Rows { // of a table that is folded on the screen
			want = append(want, r.Event+r.Called+r.Returned+r.Client+r.Node+r.What)
		}
	}
	words := printedWords(t, pdf)
	var text strings.Builder
	for _, w := range words {
		text.WriteString(w.Text)
		if w.Right > w.page-paperMargin {
			t.Errorf("%q ends %.0f points right of what is printed on page of %.0f", w.Text, w.Right-w.page+paperMargin, w.page)
		}
	}
	for _, w := range want {
		if !strings.Contains(text.String(), strings.Join(strings.Fields(w), "")) {
			t.Errorf("%q is not printed", w)
		}
	}
	for _, control := range []string{"whole run", "all keys", "Show in the picture", "Drag to pan", "light / dark"} {
		if strings.Contains(text.String(), strings.Join(strings.Fields(control), "")) {
			t.Errorf("%q is printed, which nobody can press on paper", control)
		}
	}

	white, amber := 0, 0
	pixels := printedPixels(t, pdf)
	for _, p := range pixels {
		switch {
		case p == [3]byte{255, 255, 255}:
			white++
		case p == [3]byte{0xe0, 0xa1, 0x00}:
			amber++
		}
	}
	if white < len(pixels)/2 {
		t.Errorf("%d of %d pixels of the first page are white", white, len(pixels))
	}
	if amber < 1000 { // the legend's has some hundred
		t.Errorf("%d pixels of the first page show lag: the picture is not there", amber)
	}

	if eval[int](b, `document.querySelectorAll('details[open]').length`) != 0 || !eval[bool](b, `document.documentElement.classList.contains('dark')`) {
		t.Error("printing leaves its traces on the screen")
	}
}

// paperMargin is the browser's margin of 1 cm in points, less what a rounding takes.
const paperMargin = 27.5

// printed is a word on paper, in points of a page that is so wide.
type printed struct {
	Text  string  `xml:",chardata"`
	Right float64 `xml:"xMax,attr"`
	page  float64
}

// printedWords gives the words of a PDF in the order in which they were printed.
func printedWords(t *testing.T, pdf []byte) []printed {
	t.Helper()
	text := poppler(t, pdf, "pdftotext", "-raw", "-bbox", "-", "-")
	var words []printed
	page := 0.0
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return words
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "page":
			for _, a := range start.Attr {
				if a.Name.Local == "width" {
					if page, err = strconv.ParseFloat(a.Value, 64); err != nil {
						t.Fatal(err)
					}
				}
			}
		case "word":
			w := printed{page: page}
			if err := d.DecodeElement(&w, &start); err != nil {
				t.Fatal(err)
			}
			words = append(words, w)
		}
	}
}

// printedPixels gives the pixels of the first page, 72 an inch.
func printedPixels(t *testing.T, pdf []byte) [][3]byte {
	t.Helper()
	image := bytes.NewReader(poppler(t, pdf, "pdftoppm", "-r", "72", "-f", "1", "-l", "1"))
	var width, height, depth int
	if _, err := fmt.Fscanf(image, "P6\n%d %d\n%d\n", &width, &height, &depth); err != nil {
		t.Fatal(err)
	}
	pixels := make([][3]byte, width*height)
	for i := range pixels {
		if _, err := io.ReadFull(image, pixels[i][:]); err != nil {
			t.Fatal(err)
		}
	}
	return pixels
}

// poppler runs one of the programs of that name over a PDF, or skips the test
// where it is not installed.
func poppler(t *testing.T, pdf []byte, program string, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("no %s is installed, so that nobody looks at what is printed; it is in the package poppler-utils", program)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stdin = bytes.NewReader(pdf)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", program, err, complaint.String())
	}
	return out
}
