package histories

import "io"

// Plaintext is text that may be compressed on disk: plain, gzip or Zstandard, told by
// its first bytes.
type Plaintext struct{ source *source }

// Decompress reads r as plain text, gzip or Zstandard, whichever it is, without
// a byte order mark.
func Decompress(r io.Reader) (*Plaintext, error) {
	s, err := openSource(r)
	if err != nil {
		return nil, err
	}
	return &Plaintext{s}, nil
}

// Read reads the text. A compressed file that is cut off ends where it was cut;
// see Cut.
func (p *Plaintext) Read(b []byte) (int, error) { return p.source.Read(b) }

// Cut tells, once the text has been read, that the compressed data ended before
// it was whole.
func (p *Plaintext) Cut() bool { return p.source.cut }

// Close frees the decoder; it does not close what is read from.
func (p *Plaintext) Close() { p.source.close() }
