package main

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReportsOfOthersLogs judges logs that others published, where they are at
// hand: the reports must agree with the exit code, and no check may pass that had
// nothing to compare.
func TestReportsOfOthersLogs(t *testing.T) {
	corpus, err := filepath.Abs(filepath.Join(root, "..", "shared", "corpus", "kafka-logs"))
	if err != nil {
		t.Fatal(err)
	}
	for cluster, checked := range map[string][]string{
		// One broker, which was its own controller.
		"aryan-jadon/logs": {"no conflict", "no regress", "no zombie"},
		"darrendao/logs":   {"no conflict", "no regress", "no zombie"},
	} {
		t.Run(cluster, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(corpus, cluster, "*"))
			if err != nil {
				t.Fatal(err)
			}
			if len(files) == 0 {
				t.Skip("no recorded logs of others beside the project")
			}
			t.Chdir(t.TempDir())
			out, code := stalemate(t, "", append([]string{"check", "--report", "junit=logs.xml", "--report", "sarif=logs.sarif", "--report", "markdown=logs.md", "--report", "json=logs.json"}, files...)...)
			if code != exitHolds || !strings.HasPrefix(out, "one order: ") {
				t.Errorf("exit code %d:\n%s", code, out)
			}
			text, err := os.ReadFile("logs.xml")
			if err != nil {
				t.Fatal(err)
			}
			var junit struct {
				Cases []struct {
					Name    string    `xml:"name,attr"`
					Skipped *struct{} `xml:"skipped"`
					Failure *struct{} `xml:"failure"`
					Error   *struct{} `xml:"error"`
				} `xml:"testsuite>testcase"`
			}
			if err := xml.Unmarshal(text, &junit); err != nil {
				t.Fatal(err)
			}
			passed := map[string]bool{}
			for _, c := range junit.Cases {
				if c.Failure != nil || c.Error != nil {
					t.Errorf("%s failed", c.Name)
				}
				passed[c.Name] = c.Skipped == nil
			}
			for _, name := range checked {
				if !passed[name] {
					t.Errorf("%s did not pass", name)
				}
				delete(passed, name)
			}
			for name, ok := range passed {
				if ok {
					t.Errorf("%s passed, and there was nothing to compare", name)
				}
			}
			summary, err := os.ReadFile("logs.md")
			if err != nil || !strings.HasPrefix(string(summary), "## Kafka&#39;s logs: held\n") {
				t.Errorf("the summary begins %.60q: %v", summary, err)
			}
		})
	}
}
