package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// runner does with a composite action what GitHub's does, as far as action.yml
// goes: it fills in expressions, runs shell steps one after the other, skips those
// after one that failed unless they are always run, and reads the files of outputs
// and summary. Steps that use other actions are only noted.
type runner struct {
	t       *testing.T
	dir     string // the workflow's working directory
	context map[string]string
	env     []string
	used    []string
	failed  int // the exit code of the first step that failed
}

var expression = regexp.MustCompile(`\$\{\{ ([a-z._-]+) \}\}`)

// fill puts values in place of expressions; what nobody set is empty.
func (r *runner) fill(s string) string {
	return expression.ReplaceAllStringFunc(s, func(e string) string { return r.context[expression.FindStringSubmatch(e)[1]] })
}

var (
	condition = regexp.MustCompile(`^\$\{\{ always\(\) && (.*) \}\}$`)
	equality  = regexp.MustCompile(`^([a-z.-]+) ([!=]=) '([a-z]*)'$`)
)

// wanted tells whether a step is to be run.
func (r *runner) wanted(when string) bool {
	if when == "" {
		return r.failed == 0
	}
	m := condition.FindStringSubmatch(when)
	if m == nil {
		r.t.Fatalf("a condition that this runner does not know: %s", when)
	}
	c := equality.FindStringSubmatch(m[1])
	if c == nil {
		r.t.Fatalf("a comparison that this runner does not know: %s", m[1])
	}
	return (r.context[c[1]] == c[3]) == (c[2] == "==")
}

// run runs the steps of an action and gives its outputs and the job's summary.
func (r *runner) run(a *action) (outputs map[string]string, summary string) {
	for i, s := range a.Runs.Steps {
		if !r.wanted(s.If) {
			continue
		}
		if s.Uses != "" {
			r.used = append(r.used, s.Uses+" "+r.fill(s.With["path"]))
			continue
		}
		if s.Shell != "bash" {
			r.t.Fatalf("step %q: a shell that this runner does not know: %s", s.Name, s.Shell)
		}
		script := filepath.Join(r.context["runner.temp"], "step.sh")
		files := map[string]string{}
		for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"} {
			files[name] = filepath.Join(r.dir, fmt.Sprint(".", name, i))
		}
		if err := os.WriteFile(script, []byte(r.fill(s.Run)), 0o666); err != nil {
			r.t.Fatal(err)
		}
		c := exec.CommandContext(r.t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script)
		c.Dir = r.dir
		c.Env = append(os.Environ(), r.env...)
		for name, file := range files {
			c.Env = append(c.Env, name+"="+file)
		}
		for name, value := range s.Env {
			c.Env = append(c.Env, name+"="+r.fill(value))
		}
		out, err := c.CombinedOutput()
		if code := c.ProcessState.ExitCode(); code != 0 {
			r.t.Logf("step %q: %v: %s", s.Name, err, out)
			if r.failed == 0 {
				r.failed = code
			}
		}
		written, _ := os.ReadFile(files["GITHUB_OUTPUT"])
		for line := range strings.Lines(string(written)) {
			name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			if !ok {
				r.t.Errorf("step %q: no output: %q", s.Name, line)
			}
			r.context["steps."+s.ID+".outputs."+name] = value
		}
		text, _ := os.ReadFile(files["GITHUB_STEP_SUMMARY"])
		summary += string(text)
	}
	outputs = map[string]string{}
	for name, out := range a.Outputs {
		outputs[name] = r.fill(out.Value)
	}
	return outputs, summary
}

// TestTheStepsOfTheAction runs the action as a job would, with a binary built by
// its own step.
func TestTheStepsOfTheAction(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("the runner's shell is missing: ", err)
	}
	source, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	a := readAction(t)
	temp := t.TempDir() // one for all cases, so that the binary is linked once
	reports := map[string]string{"junit": "stalemate-reports/junit.xml", "sarif": "stalemate-reports/report.sarif"}
	for _, test := range []struct {
		name   string
		inputs map[string]string
		env    []string
		// The job's exit code, and what it leaves.
		code    int
		outputs map[string]string
		summary string
		// kept are the folders of the artifact; empty where there is none.
		kept string
	}{
		{name: "what held passes",
			inputs:  map[string]string{"command": "check good*.jsonl --require ordered-lag"},
			outputs: map[string]string{"exit-code": "0", "answer": "held"}, summary: ": held\n", kept: "stalemate-reports\nstore\n"},
		{name: "what was broken fails, after the artifact was kept",
			inputs: map[string]string{"command": "check good.jsonl --require linearizable"},
			code:   1, outputs: map[string]string{"exit-code": "1", "answer": "broken"}, summary: ": BROKEN\n", kept: "stalemate-reports\nstore\n"},
		{name: "unless the workflow decides for itself",
			inputs:  map[string]string{"command": "check good.jsonl --require linearizable", "fail": "false", "artifact": ""},
			outputs: map[string]string{"exit-code": "1", "answer": "broken"}, summary: ": BROKEN\n"},
		{name: "logs of Kafka's have reports too",
			inputs: map[string]string{"command": "check answer-1.txt answer-2.txt"},
			code:   2, outputs: map[string]string{"exit-code": "2", "answer": "undecided"}, summary: "Kafka&#39;s logs: undecided\n", kept: "stalemate-reports\nstore\n"},
		{name: "reports go where the workflow says",
			inputs:  map[string]string{"command": "check good.jsonl --require ordered-lag", "reports": "out of the way", "store": "runs"},
			outputs: map[string]string{"exit-code": "0", "answer": "held", "junit": "out of the way/junit.xml", "sarif": "out of the way/report.sarif"}, summary: ": held\n", kept: "out of the way\nruns\n"},
		{name: "an input is no script",
			inputs: map[string]string{"command": "check $(touch${IFS}hacked) `touch hacked`; touch hacked", "artifact": "a\"; touch hacked; \""},
			code:   254, outputs: map[string]string{"exit-code": "254", "answer": "usage"}, summary: "failed", kept: "stalemate-reports\nstore\n"},
		{name: "without reports no output names one",
			inputs: map[string]string{"command": "check good.jsonl --nonsense"},
			code:   254, outputs: map[string]string{"exit-code": "254", "answer": "usage", "junit": "", "sarif": ""}, kept: "stalemate-reports\nstore\n"},
		{name: "a version that cannot be fetched is a failed run",
			inputs: map[string]string{"command": "check good.jsonl", "version": "v0.0.0-none"}, env: []string{"GOPROXY=off", "GOFLAGS=-mod=mod"},
			code: 1, outputs: map[string]string{"exit-code": "", "answer": "", "junit": "", "sarif": ""}, kept: "stalemate-reports\nstore\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{
				"good.jsonl": lagging, "answer-1.txt": "\tTopic: o\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\n", "answer-2.txt": "\tTopic: o\tPartition: 0\tLeader: 2\tReplicas: 1,2\tIsr: 1,2\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			r := &runner{t: t, dir: dir, env: test.env, context: map[string]string{"github.action_path": source, "runner.temp": temp}}
			for name, in := range a.Inputs {
				if in.Default != nil {
					r.context["inputs."+name] = *in.Default
				}
			}
			for name, value := range test.inputs {
				r.context["inputs."+name] = value
			}
			outputs, summary := r.run(a)
			if r.failed != test.code {
				t.Errorf("the job ended with %d, expected %d", r.failed, test.code)
			}
			want := maps.Clone(reports)
			maps.Copy(want, test.outputs)
			if !maps.Equal(outputs, want) {
				t.Errorf("outputs %q, expected %q", outputs, want)
			}
			if (summary == "") != (test.summary == "") || !strings.Contains(summary, test.summary) {
				t.Errorf("the summary is %q, expected %q", summary, test.summary)
			}
			for _, name := range []string{"junit", "sarif"} {
				if file := outputs[name]; file != "" {
					if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
						t.Errorf("output %s: %v", name, err)
					}
				}
			}
			kept := slices.IndexFunc(r.used, func(s string) bool { return strings.HasPrefix(s, "actions/upload-artifact@") })
			if (kept >= 0) != (test.kept != "") || kept >= 0 && !strings.HasSuffix(r.used[kept], " "+test.kept) {
				t.Errorf("used %q, expected to keep %q", r.used, test.kept)
			}
			if _, err := os.Stat(filepath.Join(dir, "hacked")); err == nil {
				t.Error("an input was given to a shell")
			}
		})
	}
}
