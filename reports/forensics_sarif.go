package reports

import (
	"fmt"
	"io"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/checker/forensics"
	"github.com/stalemate-io/stalemate/policy"
)

// ForensicsSARIF writes what Kafka's logs show as SARIF 2.1.0: each finding is a
// result at the last of the lines that show it, with all of them as related places.
// Divergences are errors, or suppressed where they are allowed; answers that differ
// in no known order are open results; what is no fault is a note.
func ForensicsSARIF(w io.Writer, j *JudgedLogs, version string) error {
	s := newSARIF(forensicsRules(), version)
	for _, f := range j.Report.Findings {
		s.forensic(j, f)
	}
	for _, f := range j.Ruling.Findings {
		if f.Asked == policy.OneOrder {
			s.result(ruleUndecided, sarifResult{Kind: "open", Level: "none", Message: sarifText{clean(f.Why + ".")}}, f.Asked)
		}
	}
	for _, k := range forensics.Kinds() {
		if left := j.Report.Counts[k] - forensics.MaxFindings; left > 0 {
			s.notify("note", fmt.Sprintf("%s of the kind %s more found; of each kind %d are told.", counted(left, "finding"), k, forensics.MaxFindings))
		}
	}
	return s.write(w)
}

func forensicsRules() []sarifRule {
	const about = projectURI + "/blob/main/docs/forensics.md#what-it-says"
	var out []sarifRule
	for _, k := range forensics.Kinds() {
		out = append(out, sarifRule{string(k), sarifText{logKindWords[k]}, about})
	}
	return append(out, sarifRule{ruleUndecided, sarifText{"The logs do not decide whether nodes disagreed."}, about})
}

func (s *sarifMaker) forensic(j *JudgedLogs, f forensics.Finding) {
	r := sarifResult{Level: "note", Message: sarifText{clean(f.Text + ".")}}
	if judged := j.judged(f.Kind); judged != nil {
		switch {
		case judged.Excused != "":
			r.Suppressions = []sarifSuppression{{"external", clean(judged.Excused)}}
		case judged.Answer == checker.Undecided:
			r.Kind, r.Level = "open", "none"
		default:
			r.Level = "error"
		}
	}
	for i, q := range f.Lines {
		if q.File == StandardInput {
			continue
		}
		r.Related = append(r.Related, sarifLocation{
			ID:       i + 1,
			Physical: sarifPhysical{Artifact: sarifArtifact{fileURI(q.File)}, Region: &sarifRegion{q.Line}},
			Message:  &sarifText{clean(q.Text)},
		})
	}
	if n := len(r.Related); n > 0 {
		at := sarifLocation{Physical: r.Related[n-1].Physical}
		if f.Partition != "" {
			at.Logical = []sarifLogical{{clean(f.Partition), "partition"}}
		}
		r.Locations = []sarifLocation{at}
	}
	s.result(string(f.Kind), r, policy.Logs, f.Partition, string(f.Kind), f.Text)
}
