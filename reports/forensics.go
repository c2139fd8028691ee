package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/stalemate-io/stalemate/checker/forensics"
	"github.com/stalemate-io/stalemate/histories/kafkalogs"
)

// Forensics writes for a person what Kafka's logs show: the verdict in one
// sentence, whom it heard, each finding with the lines that show it, and what
// became of the files.
func Forensics(w io.Writer, r *forensics.Report, o TextOptions) error {
	p := newPrinter(o)
	p.forensicsHead(r)
	if t := heard(r); t.Len() > 0 {
		p.WriteString("\n" + t.String())
	}
	shown, left := map[forensics.Kind]int{}, 0
	for _, f := range r.Findings {
		if shown[f.Kind]++; shown[f.Kind] > p.each(f.Kind) {
			left++
			continue
		}
		p.finding(r, f)
	}
	for _, n := range r.Counts {
		left += max(0, n-forensics.MaxFindings)
	}
	if left > 0 {
		fmt.Fprintf(p, "\n%s more found; --verbose and --json show more\n", counted(left, "finding"))
	}
	p.WriteByte('\n')
	p.files(r.Files)
	for _, text := range r.Warnings {
		p.wrap("warning: ", 9, text)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// heard has a row for each node that the files tell of.
func heard(r *forensics.Report) *Table {
	t := NewTable("heard", "partitions", "changes of leader epoch")
	for _, ob := range r.Observers {
		t.Row(ob.Name, fmt.Sprint(ob.Partitions), fmt.Sprint(ob.Changes))
	}
	return t
}

// each is how many findings of a kind are shown.
func (p *printer) each(k forensics.Kind) int {
	if p.Verbose {
		return forensics.MaxFindings
	}
	return mostFindings(k)
}

func (p *printer) forensicsHead(r *forensics.Report) {
	word, why := logsVerdict(r)
	color := wordColor(word)
	if r.Verdict == forensics.OneOrder {
		color = green
	}
	// Coloured after the lines were broken, since colours take no room.
	line := newPrinter(p.TextOptions)
	line.wrap("", 0, word+": "+why)
	p.WriteString(p.paint(color, word) + line.String()[len(word):])
}

func (p *printer) finding(r *forensics.Report, f forensics.Finding) {
	color := ""
	if f.Kind.Divergence() {
		color = red
	}
	p.WriteString("\n" + p.paint(color, findingHead(r, f)) + "\n")
	p.wrap("  ", 2, f.Text)
	for _, q := range f.Lines {
		p.wrap("    ", 6, fmt.Sprintf("%s:%d: %s", q.File, q.Line, q.Text))
	}
}

func findingHead(r *forensics.Report, f forensics.Finding) string {
	if n := r.Counts[f.Kind]; n > 1 {
		return fmt.Sprintf("%s (one of %d)", f.Kind, n)
	}
	return string(f.Kind)
}

// files says what of the files was understood: all in one, or each.
func (p *printer) files(files []forensics.File) {
	if !p.Verbose && len(files) > 1 {
		all := forensics.File{Name: fmt.Sprintf("%d files", len(files))}
		kinds := map[string]int{}
		for _, f := range files {
			all.Lines += f.Lines
			all.Facts += f.Facts
			for _, o := range f.Ignored {
				kinds[o.Kind] += o.Count
			}
		}
		for kind, n := range kinds {
			all.Ignored = append(all.Ignored, kafkalogs.Other{Kind: kind, Count: n})
		}
		slices.SortFunc(all.Ignored, func(a, b kafkalogs.Other) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Kind, b.Kind)) })
		files = []forensics.File{all}
	}
	for _, f := range files {
		p.wrap("", 2, fmt.Sprintf("%s: %s, %d of them about leadership.", f.Name, counted(f.Lines, "line"), f.Facts))
		for i, o := range f.Ignored {
			if i == mostIgnored && !p.Verbose {
				fmt.Fprintf(p, "  and lines of %s more; --json lists them\n", counted(len(f.Ignored)-mostIgnored, "kind"))
				break
			}
			p.wrap("  not looked at: ", 4, fmt.Sprintf("%d × %s", o.Count, o.Kind))
		}
	}
}

// mostIgnored is how many kinds of lines that were not looked at are shown.
const mostIgnored = 3

// counted gives a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
