package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/policy"
)

// SARIF writes SARIF 2.1.0 (OASIS), which code scanning reads: each anomaly is a
// result that points at the line of the history with the last operation of its
// proof. What
// breaks a request is an error, what is only worth knowing a note, what the policy
// allows is suppressed with its reason, and what is undecided is an open result.
// version is stalemate's.
func SARIF(w io.Writer, all []Judged, version string) error {
	s := newSARIF(sarifRules(), version)
	for i := range all {
		s.add(&all[i])
	}
	return s.write(w)
}

func newSARIF(rules []sarifRule, version string) *sarifMaker {
	return &sarifMaker{run: sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "stalemate", Version: version, URI: projectURI, Rules: rules,
		}},
		Invocations: []sarifInvocation{{Successful: true}},
		Results:     []sarifResult{},
	}, seen: map[string]int{}}
}

func (s *sarifMaker) write(w io.Writer) error {
	text, err := json.MarshalIndent(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{s.run},
	}, "", "  ")
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	return err
}

const projectURI = "https://github.com/stalemate-io/stalemate"

// The rules that are no kind of anomaly.
const (
	ruleRequest   = "broken-request"
	ruleUndecided = "undecided"
)

// The objects of the format, as far as they are written (SARIF 2.1.0, section 3).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		URI     string      `json:"informationUri"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
		Help  string    `json:"helpUri"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		Rule         string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Kind         string             `json:"kind,omitempty"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations,omitempty"`
		Related      []sarifLocation    `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		ID       int            `json:"id,omitempty"`
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
		Message  *sarifText     `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

func sarifRules() []sarifRule {
	var out []sarifRule
	rule := func(id, about string) {
		out = append(out, sarifRule{id, sarifText{about}, projectURI + "/blob/main/docs/verdict.md#anomalies"})
	}
	for _, kind := range policy.Kinds() {
		rule(kind, kindWords[kind])
	}
	rule(ruleRequest, "What was asked for did not hold.")
	rule(ruleUndecided, "The history does not decide what was asked for.")
	return out
}

type sarifMaker struct {
	run  sarifRun
	seen map[string]int // fingerprints
}

func (s *sarifMaker) add(j *Judged) {
	if j.Err != nil {
		s.run.Invocations[0].Successful = false
		s.notify("error", j.Name+": "+j.Err.Error())
		return
	}
	paths := pathsOf(j.Verdict)
	if j.Verdict.WithLog != nil && differs(j.Verdict) {
		paths = append(paths, pathsOf(j.Verdict.WithLog.Judgement)...)
	}
	for _, path := range paths {
		for i := range path.verdict.Anomalies {
			s.anomaly(j, path.name, &path.verdict.Anomalies[i])
		}
	}
	if w := j.Verdict.WithLog; w != nil {
		for i := range w.Anomalies {
			s.anomaly(j, "", &w.Anomalies[i])
		}
	}
	for i := range j.Ruling.Findings {
		s.finding(j, &j.Ruling.Findings[i])
	}
}

// notify tells something about the judging itself.
func (s *sarifMaker) notify(level, text string) {
	i := &s.run.Invocations[0]
	i.Notifications = append(i.Notifications, sarifNotification{level, sarifText{clean(text)}})
}

func (s *sarifMaker) anomaly(j *Judged, path string, a *checker.Anomaly) {
	text := a.Text + "."
	if path != "" {
		text = path + ": " + text
	}
	if a.Cause != "" {
		text += " Cause: " + a.Cause + "."
	}
	r := sarifResult{Level: "note", Message: sarifText{clean(text)}}
	if j.Ruling.Breaks(path, a.Kind) {
		r.Level = "error"
	} else if excuse := j.Ruling.Excuses(path, a.Kind); excuse != "" {
		r.Suppressions = []sarifSuppression{{"external", clean(excuse)}}
	}
	var logical []sarifLogical
	for _, l := range []sarifLogical{{path, "read path"}, {a.Key, "key"}, {a.Node, "node"}} {
		if l.Name != "" {
			logical = append(logical, sarifLogical{clean(l.Name), l.Kind})
		}
	}
	last := -1
	if n := len(a.Witness); n > 0 {
		last = a.Witness[n-1].Index
	}
	if at := j.location(last); at != nil {
		at.Logical = logical
		r.Locations = []sarifLocation{*at}
		for i := range a.Witness {
			op := j.location(a.Witness[i].Index)
			op.ID, op.Message = i+1, &sarifText{clean(a.Witness[i].Text)}
			r.Related = append(r.Related, *op)
		}
	}
	s.result(a.Kind, r, j.System, path, a.Kind, a.Key, a.Node)
}

// finding adds what no anomaly tells: that a request is undecided, or broken with
// nothing to show for it but numbers.
func (s *sarifMaker) finding(j *Judged, f *policy.Finding) {
	r := sarifResult{Message: sarifText{clean(fmt.Sprintf("%s asked by %s is %s: %s.", requestName(f.Path, f.Asked), from(f), answerWord(f.Answer), f.Why))}}
	if at := j.location(-1); at != nil {
		r.Locations = []sarifLocation{*at}
	}
	switch {
	case f.Answer == checker.Undecided:
		r.Kind, r.Level = "open", "none"
		s.result(ruleUndecided, r, j.System, f.Path, f.Asked)
	case f.Answer == checker.Violated && len(anomaliesOf(f)) == 0:
		r.Level = "error"
		if f.Excused != "" {
			r.Level, r.Suppressions = "note", []sarifSuppression{{"external", clean(f.Excused)}}
		}
		s.result(ruleRequest, r, j.System, f.Path, f.Asked)
	}
}

// result adds a result under a rule. Its fingerprint is made of what stays the
// same when the same fault is found in another run.
func (s *sarifMaker) result(rule string, r sarifResult, identity ...string) {
	r.Rule = rule
	r.RuleIndex = slices.IndexFunc(s.run.Tool.Driver.Rules, func(x sarifRule) bool { return x.ID == rule })
	id := strings.Join(identity, "\x00")
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", id, s.seen[id]))
	s.seen[id]++
	r.Fingerprints = map[string]string{"stalemate/v1": hex.EncodeToString(sum[:])}
	s.run.Results = append(s.run.Results, r)
}

// location points at an event of a history, or at all of it for a negative one.
func (j *Judged) location(event int) *sarifLocation {
	if j.Source == "" {
		return nil
	}
	at := &sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{fileURI(j.Source)}}}
	if j.Lines && event >= 0 {
		at.Physical.Region = &sarifRegion{event + 1}
	}
	return at
}

// fileURI writes a path as a URI: relative to the working directory as it is, for
// pipelines read it relative to the root of the project, else with its scheme.
func fileURI(path string) string {
	path = filepath.ToSlash(filepath.Clean(path))
	u := url.URL{Path: path}
	if strings.HasPrefix(path, "/") {
		u.Scheme = "file"
	}
	return u.String()
}
