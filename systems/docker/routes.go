package docker

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"strings"
)

// The requests that a host's program takes, one a line, and what it says when it
// has done what was asked; anything else it says is why it has not.
const (
	openRoutes = "open"
	cutRoute   = "cut"
	healRoute  = "heal"
	done       = "ok"
)

// ServeRoutes changes routes in the network namespace of this process, as its
// input asks it to, until that ends. Each line is a request,
//
//	open            get ready
//	cut ADDRESS     drop everything that goes to an IPv4 address
//	heal ADDRESS    let it go there again; no error where it does
//
// and is answered by a line, "ok" or what went wrong. It needs NET_ADMIN.
func ServeRoutes(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		answer := done
		if err := serveRoute(lines.Text()); err != nil {
			answer = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		if _, err := fmt.Fprintln(out, answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

func serveRoute(request string) error {
	word, rest, _ := strings.Cut(strings.TrimSpace(request), " ")
	if word == openRoutes && rest == "" {
		return acceptFromAll()
	}
	if word != cutRoute && word != healRoute {
		return fmt.Errorf("request %q: expected open, cut ADDRESS or heal ADDRESS", request)
	}
	to, err := netip.ParseAddr(rest)
	if err != nil || !to.Is4() {
		return fmt.Errorf("request %q: expected an IPv4 address", request)
	}
	if word == cutRoute {
		return blackhole(to)
	}
	return unblackhole(to)
}
