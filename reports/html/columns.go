package html

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
)

// columns packs numbers column by column: a header in JSON, then each column's
// numbers, little-endian, at an offset that suits their width. Equal and slowly
// growing numbers stand together this way, so that gzip makes little of them, and
// the script reads them in place as typed arrays.
type columns struct {
	list []column
	body bytes.Buffer
}

// column tells the script where to find one column. Type is the name of the
// typed array: u8, u16, i32 or f64.
type column struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
}

// element is what a column can hold.
type element interface {
	uint8 | uint16 | int32 | float64
}

// add appends a column.
func add[T element](c *columns, name string, values []T) {
	for c.body.Len()%8 != 0 {
		c.body.WriteByte(0)
	}
	kind := ""
	switch any(values).(type) {
	case []uint8:
		kind = "u8"
	case []uint16:
		kind = "u16"
	case []int32:
		kind = "i32"
	case []float64:
		kind = "f64"
	}
	c.list = append(c.list, column{name, kind, c.body.Len(), len(values)})
	// A bytes.Buffer takes everything and these types have a fixed size.
	_ = binary.Write(&c.body, binary.LittleEndian, values)
}

// pack gives the header, with the columns' places put into it, and the columns
// as base64 of gzip: four bytes of length, the JSON, padding to eight, the body.
func (c *columns) pack(header map[string]any) (string, error) {
	header["columns"] = c.list
	head, err := json.Marshal(header)
	if err != nil {
		return "", err
	}
	for (len(head)+8)%8 != 0 {
		head = append(head, ' ')
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	size := make([]byte, 8)
	binary.LittleEndian.PutUint32(size, uint32(min(len(head), math.MaxUint32)))
	for _, part := range [][]byte{size, head, c.body.Bytes()} {
		if _, err := z.Write(part); err != nil {
			return "", err
		}
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(out.Bytes()), nil
}
