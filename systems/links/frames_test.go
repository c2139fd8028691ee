package links

import (
	"encoding/binary"
	"testing"
	"time"
)

// framed puts a text into a frame.
func framed(text string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(text)))) + text
}

// withFates is a mesh whose frames meet the fate that stands under their text.
func withFates(t *testing.T, fates map[string]Fate) *twoNodes {
	return newTwoNodes(t, Route{Frames: func(frame []byte) Fate { return fates[string(frame)] }})
}

func TestWhatBecomesOfAFrame(t *testing.T) {
	const late = 30 * time.Millisecond
	tests := []struct {
		rule string
		fate Fate
		want string
	}{
		{"the zero fate lets it pass", Fate{}, framed("one") + framed("struck") + framed("three")},
		{"a lost one never arrives", Fate{Lose: true}, framed("one") + framed("three")},
		{"one that is held is overtaken", Fate{Delay: late}, framed("one") + framed("three") + framed("struck")},
		{"a doubled one arrives twice", Fate{Double: true}, framed("one") + framed("struck") + framed("struck") + framed("three")},
		{"or once more later", Fate{Double: true, Delay: late}, framed("one") + framed("struck") + framed("three") + framed("struck")},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			n := withFates(t, map[string]Fate{"struck": test.fate})
			a, b := n.connect()
			say(t, a, framed("one")+framed("struck")+framed("three"))
			hear(t, b, test.want)
			// The opposite direction has no frames and is not judged.
			say(t, b, "struck")
			hear(t, a, "struck")
			must(t, a.CloseWrite())
			hearEnd(t, b)
		})
	}
}

func TestAHeldFrameArrivesAfterItsSenderHasGone(t *testing.T) {
	for _, how := range []string{"in order", "abruptly"} {
		t.Run(how, func(t *testing.T) {
			n := withFates(t, map[string]Fate{"held": {Delay: 50 * time.Millisecond}})
			a, b := n.connect()
			say(t, a, framed("held")+framed("before"))
			hear(t, b, framed("before"))
			if how == "abruptly" {
				must(t, a.SetLinger(0))
			}
			must(t, a.Close())
			hear(t, b, framed("held"))
			hearEnd(t, b)
		})
	}
}

func TestACutHoldsFramesToo(t *testing.T) {
	n := withFates(t, nil)
	a, b := n.connect()
	must(t, n.Cut("a", "b"))
	say(t, a, framed("text"))
	hearNothing(t, b)
	must(t, n.Heal("a", "b"))
	hear(t, b, framed("text"))
}

func TestWhatIsNoFramePassesAsItIs(t *testing.T) {
	n := withFates(t, nil)
	a, b := n.connect()
	say(t, a, "\x00\x00\x00\x09half")
	must(t, a.CloseWrite())
	hear(t, b, "\x00\x00\x00\x09half")
	hearEnd(t, b)
	a, b = n.connect()
	say(t, a, "\xff\xff\xff\xff and more")
	hear(t, b, "\xff\xff\xff\xff")
	hearEnd(t, b)
}

func TestClosingTheMeshDoesNotWaitForHeldFrames(t *testing.T) {
	n := withFates(t, map[string]Fate{"held": {Delay: time.Hour}})
	a, b := n.connect()
	say(t, a, framed("held")+framed("x"))
	hear(t, b, framed("x"))
	must(t, n.Close())
}
