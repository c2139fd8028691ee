package histories_test

import (
	"strings"
	"testing"

	"github.com/stalemate-io/stalemate/histories"
)

// errorsOf reads history.txt and gives the errors that its events hold.
func errorsOf(t *testing.T, text string) []string {
	t.Helper()
	var errors []string
	_, err := histories.ReadEvents(strings.NewReader(text), histories.ReadOptions{Format: histories.Text}, func(e *histories.Event) error {
		if e.Error != "" {
			errors = append(errors, e.Error)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return errors
}

func TestErrorsInFreeTextGoOnOverLines(t *testing.T) {
	got := errorsOf(t, "0\t:invoke\t:write\t1\n"+
		"0\t:info\t:write\t1\tjava.net.SocketTimeoutException: Read timed out\n"+
		"\tat java.net.SocketInputStream.read\n\n"+
		"\tat clojure.core$apply\n"+
		"1\t:invoke\t:read\tnil\n1\t:fail\t:read\tnil\tno route to host\n")
	want := []string{"java.net.SocketTimeoutException: Read timed out\nat java.net.SocketInputStream.read\nat clojure.core$apply", "no route to host"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestErrorsInFreeTextAreCutWhereTheyAreLong(t *testing.T) {
	trace := strings.Repeat("\tat some.function.of.some.library\n", 10_000)
	got := errorsOf(t, "0\t:invoke\t:write\t1\n0\t:info\t:write\t1\tit broke down\n"+trace)
	if len(got) != 1 || len(got[0]) < 4000 || len(got[0]) > 5000 {
		t.Errorf("%d errors, the first of %d bytes; want one of about 4096", len(got), len(got[0]))
	}
}
