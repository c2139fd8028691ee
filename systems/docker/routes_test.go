package docker

import (
	"strings"
	"testing"
)

func TestRequestsThatAreRefused(t *testing.T) {
	for _, c := range []struct{ rule, request, want string }{
		{"an unknown word", "drop 10.0.0.1", "expected open, cut ADDRESS"},
		{"nothing at all", "", "expected open, cut ADDRESS"},
		{"a name instead of an address", "cut b1", "IPv4"},
		{"an address of IPv6, whose routes are others", "cut ::1", "IPv4"},
		{"a network", "heal 10.0.0.0/8", "IPv4"},
		{"no address", "cut", "IPv4"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var out strings.Builder
			if err := ServeRoutes(strings.NewReader(c.request+"\n"), &out); err != nil {
				t.Fatal(err)
			}
			if answer := out.String(); !strings.Contains(answer, c.want) || strings.Count(answer, "\n") != 1 {
				t.Errorf("answered %q: want one line with %q", answer, c.want)
			}
		})
	}
}
