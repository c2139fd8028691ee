package html

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"unicode/utf8"
)

// drawn is what porcupine drew of all witnesses. Its pages differ in little but
// their data, so that what all of them begin and end with is kept once.
type drawn struct {
	head, tail string
	middles    []string
}

// drawings collects the pages and gives each anomaly the number of its own.
func drawings(list []*anomaly) drawn {
	var pages [][]byte
	for _, a := range list {
		if a.page != nil {
			a.drawing = len(pages)
			pages = append(pages, a.page)
		}
	}
	if len(pages) == 0 {
		return drawn{}
	}
	head, tail := len(pages[0]), len(pages[0])
	for _, p := range pages {
		head = min(head, common(pages[0], p, func(b []byte, i int) byte { return b[i] }))
	}
	for _, p := range pages {
		tail = min(tail, len(p)-head, common(pages[0], p, func(b []byte, i int) byte { return b[len(b)-1-i] }))
	}
	// Neither cut may go through a character.
	for head > 0 && head < len(pages[0]) && !utf8.RuneStart(pages[0][head]) {
		head--
	}
	for tail > 0 && !utf8.RuneStart(pages[0][len(pages[0])-tail]) {
		tail--
	}
	d := drawn{head: string(pages[0][:head]), tail: string(pages[0][len(pages[0])-tail:])}
	for _, p := range pages {
		d.middles = append(d.middles, string(p[head:len(p)-tail]))
	}
	return d
}

// common counts how many bytes are the same, taken one after the other.
func common(a, b []byte, take func([]byte, int) byte) int {
	n := 0
	for n < len(a) && n < len(b) && take(a, n) == take(b, n) {
		n++
	}
	return n
}

var inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

// scriptHashes gives the hashes, as a Content-Security-Policy states them, of
// the scripts in a page.
func scriptHashes(page []byte) []string {
	var out []string
	for _, m := range inlineScript.FindAllSubmatch(page, -1) {
		out = append(out, scriptHash(m[1]))
	}
	return out
}

func scriptHash(script []byte) string {
	// A browser reads every line end as a line feed before it hashes.
	sum := sha256.Sum256(bytes.ReplaceAll(script, []byte("\r\n"), []byte("\n")))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
