package nemesis

import (
	"context"
	"errors"
	"fmt"

	"github.com/stalemate-io/stalemate/systems"
)

// link is a directed link between two nodes.
type link struct{ from, to string }

// linksNeeded says that a fault needs links that can be broken and at least n
// nodes, if the cluster does not have them.
func linksNeeded(n int, c systems.Cluster) error {
	if c.Links() == nil {
		return errors.New("the links of this deployment cannot be broken")
	}
	return atLeast(n, c)
}

// between lists the links between two groups of nodes, in both directions.
func between(a, b []string) []link {
	var links []link
	for _, x := range a {
		for _, y := range b {
			links = append(links, link{x, y}, link{y, x})
		}
	}
	return links
}

// onLinks is a disruption that does the same to several links.
func onLinks(c systems.Cluster, links []link, targets []string, what string, do func(systems.Links, link) error) Disruption {
	each := func(do func(link) error) error {
		var errs []error
		for _, l := range links {
			if err := do(l); err != nil {
				errs = append(errs, fmt.Errorf("link %s to %s: %w", l.from, l.to, err))
			}
		}
		return errors.Join(errs...)
	}
	return Disruption{
		Targets: targets,
		What:    what,
		Begin: func(context.Context) error {
			return each(func(l link) error { return do(c.Links(), l) })
		},
		End: func(context.Context) error {
			return each(func(l link) error { return c.Links().Heal(l.from, l.to) })
		},
	}
}

// cut is what most faults do to a link.
func cut(links systems.Links, l link) error { return links.Cut(l.from, l.to) }
