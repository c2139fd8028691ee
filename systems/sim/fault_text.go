package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stalemate-io/stalemate/systems/node"
)

// String gives the fault as one line of text, which ParseFault reads:
//
//	at 3s for 2s kill-node c1
//	at 3s for 2s kill-node c1 on c1 store-write t-0 #2
//	at 3s pause-node c1 effect 17
//	at 1s for 5s cut-one-way c1 -> b1 b2
//	at 1s for 5s halves c1 b1 | c2 c3 b2
//	at 1s for 5s slow-link 50ms c1 -> b1
//	at 1s for 5s lose 20% c1
//	at 1s delay-message 3s UpdateMetadata #2 c1 -> b4
//	at 2s for 9s clock-drift -2.5% b2
func (f *Fault) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "at %v", f.At)
	if f.For > 0 {
		fmt.Fprintf(&b, " for %v", f.For)
	}
	b.WriteString(" " + f.Kind)
	if f.Amount != 0 {
		fmt.Fprintf(&b, " %v", f.Amount)
	}
	if f.PerMille != 0 {
		b.WriteString(" " + percent(f.PerMille))
	}
	if f.Message != "" {
		fmt.Fprintf(&b, " %s #%d", f.Message, f.Nth)
	}
	for _, id := range f.Nodes {
		b.WriteString(" " + string(id))
	}
	if len(f.Peers) > 0 {
		if k := kindNamed(f.Kind); k != nil && k.Sides {
			b.WriteString(" |")
		} else {
			b.WriteString(" ->")
		}
		for _, id := range f.Peers {
			b.WriteString(" " + string(id))
		}
	}
	if t := f.On; t != nil {
		b.WriteString(" on")
		for _, word := range []string{string(t.Node), t.What, t.Key} {
			if word == "" {
				word = "*"
			}
			b.WriteString(" " + word)
		}
		fmt.Fprintf(&b, " #%d", t.Nth)
	}
	if f.Effect > 0 {
		fmt.Fprintf(&b, " effect %d", f.Effect)
	}
	return b.String()
}

func percent(perMille int) string {
	s := strconv.Itoa(perMille / 10)
	if perMille < 0 && perMille > -10 {
		s = "-0"
	}
	if tenth := perMille % 10; tenth != 0 {
		s += "." + strconv.Itoa(max(tenth, -tenth))
	}
	return s + "%"
}

// ParseFault reads what String writes. Fields may stand apart by any white
// space.
func ParseFault(line string) (Fault, error) {
	p := &faultParser{words: strings.Fields(line)}
	f := p.fault()
	if p.err == nil && p.peek() != "" {
		p.expect("the end of the line")
	}
	if p.err == nil {
		p.err = f.Validate()
	}
	if p.err != nil {
		return Fault{}, fmt.Errorf("fault %q: %w", line, p.err)
	}
	return f, nil
}

// faultParser goes through the words of a line; the first error stays.
type faultParser struct {
	words []string
	err   error
}

func (p *faultParser) peek() string {
	if len(p.words) == 0 || p.err != nil {
		return ""
	}
	return p.words[0]
}

func (p *faultParser) next() string {
	w := p.peek()
	if w != "" {
		p.words = p.words[1:]
	}
	return w
}

func (p *faultParser) take(word string) bool {
	if p.peek() != word {
		return false
	}
	p.next()
	return true
}

func (p *faultParser) expect(what string) {
	if p.err != nil {
		return
	}
	found := "the end of the line"
	if len(p.words) > 0 {
		found = strconv.Quote(p.words[0])
	}
	p.err = fmt.Errorf("expected %s, found %s", what, found)
}

func (p *faultParser) fault() (f Fault) {
	if !p.take("at") {
		p.expect(`"at" and a time`)
	}
	f.At = p.duration()
	if p.take("for") {
		f.For = p.duration()
	}
	k := kindNamed(p.peek())
	if k == nil {
		p.expect("a kind of fault: " + kindNames())
		return f
	}
	f.Kind = p.next()
	if k.Amount {
		f.Amount = p.duration()
	}
	if k.PerMille {
		f.PerMille = p.share()
	}
	if k.Message {
		f.Message = p.name("a kind of message")
		f.Nth = p.nth()
	}
	f.Nodes = p.nodes()
	switch {
	case k.Sides && p.take("|"), k.Links && !k.Sides && p.take("->"):
		f.Peers = p.nodes()
	}
	if p.take("on") {
		t := &Trigger{}
		t.Node = node.ID(p.any())
		t.What = p.any()
		t.Key = p.any()
		t.Nth = p.nth()
		f.On = t
	}
	if p.take("effect") {
		f.Effect = p.number("the number of an effect, from 1")
	}
	return f
}

func (p *faultParser) duration() (d time.Duration) {
	if p.err != nil {
		return 0
	}
	d, err := duration(p.peek())
	if err != nil {
		p.expect("a duration such as 1.5s, at most 24h")
	}
	p.next()
	return d
}

// share reads a percentage with at most one digit behind the point.
func (p *faultParser) share() int {
	number, found := strings.CutSuffix(p.peek(), "%")
	number, negative := strings.CutPrefix(number, "-")
	number = strings.TrimPrefix(number, "+")
	whole, tenth, _ := strings.Cut(number, ".")
	if tenth == "" {
		tenth = "0"
	}
	w, err1 := strconv.ParseUint(whole, 10, 8)
	t, err2 := strconv.ParseUint(tenth, 10, 8)
	if !found || err1 != nil || err2 != nil || len(tenth) > 1 {
		p.expect("a share such as 20% or 0.5%")
		return 0
	}
	p.next()
	if negative {
		return -int(10*w + t)
	}
	return int(10*w + t)
}

func (p *faultParser) nth() int {
	number, found := strings.CutPrefix(p.peek(), "#")
	n, err := strconv.Atoi(number)
	if !found || err != nil || n < 1 {
		p.expect("which one, such as #1")
		return 0
	}
	p.next()
	return n
}

func (p *faultParser) number(what string) int {
	n, err := strconv.Atoi(p.peek())
	if err != nil || n < 1 {
		p.expect(what)
		return 0
	}
	p.next()
	return n
}

// name reads a word that is nothing else.
func (p *faultParser) name(what string) string {
	w := p.peek()
	if w == "" || w == "->" || w == "|" || w == "on" || w == "effect" || w[0] == '#' {
		p.expect(what)
		return ""
	}
	return p.next()
}

// any reads a name, or the star that stands for any.
func (p *faultParser) any() string {
	if w := p.name("a name or *"); w != "*" {
		return w
	}
	return ""
}

func (p *faultParser) nodes() []node.ID {
	ids := []node.ID{node.ID(p.name("the name of a node"))}
	for p.err == nil {
		switch p.peek() {
		case "", "->", "|", "on", "effect":
			return ids
		}
		ids = append(ids, node.ID(p.name("the name of a node")))
	}
	return ids
}

// duration reads a duration that is not negative and below a day, which keeps
// every sum of them far from overflow.
func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil {
		return 0, err
	}
	if d < 0 || d > 24*time.Hour {
		return 0, fmt.Errorf("%v is not between 0 and 24h", d)
	}
	return d, nil
}
