package main

import (
	"os"
	"strings"
	"testing"
)

func TestAComparisonIsHeldAgainstAPolicy(t *testing.T) {
	const lag = "require: {push: {broker: ordered-lag}}\n"
	for _, test := range []struct {
		rule, policy string
		args         []string
		code         int
		want         string
	}{
		{"without a policy nothing is asked", "", nil, exitHolds, "diverge"},
		{"what a run violates is a violation", lag, nil, exitViolated, "1 violated of 1"},
		{"a policy of the working directory can be left aside", lag, []string{"--policy", "none"}, exitHolds, "diverge"},
		{"what is asked and held", "require: {kraft: {quorum: linearizable}}\n", nil, exitHolds, "none violated of 1"},
		{"a budget of staleness counts", "require: {kraft: {broker: {max-staleness: 1ms}}}\n", nil, exitViolated, "staleness at most 1ms"},
		{"what is allowed is no violation", lag + allowed("regress", "stuck", "stale"), nil, exitHolds, "1 allowed of 1"},
		{"a kind that is not allowed still is one", lag + allowed("regress"), nil, exitViolated, "1 violated of 1"},
		{"a policy is read before anything runs", "nonsense: 1\n", nil, exitUsage, "stalemate.yaml:2"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if test.policy != "" {
				if err := os.WriteFile("stalemate.yaml", []byte("version: 1\n"+test.policy), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			out, code := stalemate(t, "", append([]string{"compare", "--seeds", "1", "--trouble", "reordered-push", "--report", "junit=c.xml"}, test.args...)...)
			if code != test.code || !strings.Contains(out, test.want) {
				t.Errorf("exit code %d, expected %d and %q in:\n%s", code, test.code, test.want, out)
			}
			text, err := os.ReadFile("c.xml")
			if failed := strings.Contains(string(text), "<failure "); failed != (code == exitViolated) || err != nil && code != exitUsage {
				t.Errorf("exit code %d, and test results %v:\n%s", code, err, text)
			}
		})
	}
}

// allowed allows kinds of anomalies in push.
func allowed(kinds ...string) string {
	out := "allow:\n"
	for _, kind := range kinds {
		out += "- {anomaly: " + kind + ", system: push, reason: known, expires: 2999-01-01}\n"
	}
	return out
}
