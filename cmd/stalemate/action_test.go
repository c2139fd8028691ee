package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/stalemate-io/stalemate/policy"
)

// root is the project's folder, seen from this package's.
const root = "../.."

// action is action.yml, as far as it is tested.
type action struct {
	text string

	Inputs map[string]struct {
		Description string
		Required    bool
		Default     *string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, Name, If, Uses, Shell, Run string
			Env, With                      map[string]string
		}
	}
}

func readAction(t *testing.T) *action {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	a := &action{text: string(text)}
	if err := yaml.Unmarshal(text, a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestTheAction(t *testing.T) {
	a := readAction(t)
	if a.Runs.Using != "composite" {
		t.Errorf("runs using %q", a.Runs.Using)
	}
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`inputs\.([a-z-]+)`).FindAllStringSubmatch(a.text, -1) {
		used[m[1]] = true
	}
	if got, want := slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(a.Inputs)); !slices.Equal(got, want) {
		t.Errorf("uses the inputs %v and declares %v", got, want)
	}
	for name, in := range a.Inputs {
		if in.Description == "" || in.Required == (in.Default != nil) {
			t.Errorf("input %s: expected a description, and a default unless it is required", name)
		}
	}
	ids := map[string]bool{}
	for _, s := range a.Runs.Steps {
		ids[s.ID] = true
		if (s.Run == "") == (s.Uses == "") || s.Run != "" && s.Shell == "" {
			t.Errorf("step %q: expected a run with a shell, or a use", s.Name)
		}
		// What a workflow's author or a pull request writes must come as data.
		if strings.Contains(s.Run, "${{") {
			t.Errorf("step %q puts an expression into a script", s.Name)
		}
		if s.Uses != "" && !regexp.MustCompile(`^actions/[a-z-]+@v\d+$`).MatchString(s.Uses) {
			t.Errorf("step uses %s, which is not a pinned action of GitHub's own", s.Uses)
		}
	}
	script, err := os.ReadFile(filepath.Join(root, "scripts/run-in-ci"))
	if err != nil {
		t.Fatal(err)
	}
	for name, out := range a.Outputs {
		m := regexp.MustCompile(`^\$\{\{ steps\.([a-z]+)\.outputs\.([a-z-]+) \}\}$`).FindStringSubmatch(out.Value)
		if m == nil || !ids[m[1]] || !strings.Contains(string(script), `echo "`+m[2]+"=") {
			t.Errorf("output %s comes from %s, which nothing writes", name, out.Value)
		}
	}
}

// TestTheScriptOfPipelines runs what the action runs, with this binary as
// stalemate.
func TestTheScriptOfPipelines(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a POSIX shell is needed")
	}
	script, err := filepath.Abs(filepath.Join(root, "scripts/run-in-ci"))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		command string
		code    int
		outputs string
		summary string
		reports bool
	}{
		"what held":            {"check good*.jsonl --require ordered-lag", 0, "exit-code=0\nanswer=held\n", "held", true},
		"what was broken":      {"check good.jsonl --require linearizable", 1, "exit-code=1\nanswer=broken\n", "BROKEN", true},
		"what is no input":     {"check missing.jsonl", 254, "exit-code=254\nanswer=usage\n", "failed", true},
		"what is never a word": {"check $(touch${IFS}hacked);touch hacked", 254, "exit-code=254\nanswer=usage\n", "", true},
		"no run and no check":  {"version", 254, "", "", false},
		"nothing":              {"", 2, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "good.jsonl"), []byte(lagging), 0o666); err != nil {
				t.Fatal(err)
			}
			c := exec.CommandContext(t.Context(), "sh", script)
			c.Dir = dir
			c.Env = append(os.Environ(), runAsCommand+"=1", "STALEMATE="+self, "STALEMATE_COMMAND="+test.command,
				"GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"), "GITHUB_OUTPUT="+filepath.Join(dir, "output"))
			out, _ := c.CombinedOutput()
			if code := c.ProcessState.ExitCode(); code != test.code && (test.command != "" || code == 0) {
				t.Errorf("exit code %d, expected %d: %s", code, test.code, out)
			}
			outputs, _ := os.ReadFile(filepath.Join(dir, "output"))
			if !strings.HasPrefix(string(outputs), test.outputs) || test.outputs == "" && len(outputs) > 0 {
				t.Errorf("outputs %q, expected %q", outputs, test.outputs)
			}
			summary, _ := os.ReadFile(filepath.Join(dir, "summary"))
			if !strings.Contains(string(summary), test.summary) || test.reports && len(summary) == 0 {
				t.Errorf("summary %q, expected it to say %q", summary, test.summary)
			}
			if _, err := os.Stat(filepath.Join(dir, "stalemate-reports/junit.xml")); (err == nil) != test.reports {
				t.Errorf("a JUnit file, expected %v: %v", test.reports, err)
			}
			if _, err := os.Stat(filepath.Join(dir, "hacked")); err == nil {
				t.Error("the command was given to a shell")
			}
		})
	}
}

// TestTheExamplesOfThePipelineGuide takes every example out of docs/ci.md: YAML
// must be such, the policy a policy, and commands must be known.
func TestTheExamplesOfThePipelineGuide(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	policies, commands := 0, 0
	for _, block := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		if block[1] == "yaml" {
			var any map[string]any
			if err := yaml.Unmarshal([]byte(block[2]), &any); err != nil {
				t.Errorf("%v in\n%s", err, block[2])
			}
			if strings.HasPrefix(block[2], "version:") {
				policies++
				if _, err := policy.Parse(policy.File, []byte(block[2])); err != nil {
					t.Error(err)
				}
			}
		}
		for _, line := range regexp.MustCompile(`(?m)^\s*(?:\$|-) (stalemate .*)$|command: (.*)$`).FindAllStringSubmatch(block[2], -1) {
			words := strings.Fields(strings.TrimPrefix(line[1], "stalemate ") + line[2])
			c, rest, err := newRoot().Find(words)
			if err != nil {
				t.Errorf("%v: %v", words, err)
				continue
			}
			if err := c.ParseFlags(rest); err != nil {
				t.Errorf("%v: %v", words, err)
			}
			commands++
		}
	}
	if policies != 1 || commands < 4 {
		t.Errorf("found %d policies and %d commands", policies, commands)
	}
}
