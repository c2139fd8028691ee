package zookeeper

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"
)

// hello is what a server opens an election connection with.
func hello(version int64, id uint64, address string) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(version))
	b = binary.BigEndian.AppendUint64(b, id)
	b = binary.BigEndian.AppendUint32(b, uint32(len(address)))
	return append(b, address...)
}

func TestReadvertise(t *testing.T) {
	const proxy = "127.0.0.1:40000"
	long := bytes.Repeat([]byte("x"), helloMaxAddress+1)
	for _, c := range []struct {
		rule string
		in   []byte
		want []byte // what the dialled server sees, the rest of the stream included
	}{
		{"the one address is replaced", append(hello(helloOneAddress, 1, "10.0.0.1:3888"), "next"...), append(hello(helloOneAddress, 1, proxy), "next"...)},
		{"so is a list of them", hello(helloManyAddresses, 2, "10.0.0.1:3888|10.0.1.1:3888"), hello(helloManyAddresses, 2, proxy)},
		{"a hello of before 3.5 is an id alone", binary.BigEndian.AppendUint64(nil, 3), binary.BigEndian.AppendUint64(nil, 3)},
		{"of what ends early everything passes", hello(helloOneAddress, 1, "10.0.0.1:3888")[:22], hello(helloOneAddress, 1, "10.0.0.1:3888")[:22]},
		{"nothing stays nothing", nil, nil},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r := bytes.NewReader(c.in)
			got, _ := readvertise(proxy)(r)
			rest, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if got := append(got, rest...); !bytes.Equal(got, c.want) {
				t.Errorf("%q: want %q", got, c.want)
			}
		})
	}
	if _, err := readvertise(proxy)(bytes.NewReader(hello(helloOneAddress, 1, string(long)))); err == nil {
		t.Error("a hello with an endless address is no error")
	}
}

// Whatever is sent, nothing is lost or invented on the way to an error.
func TestReadvertiseLosesNothingOfABrokenHello(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := hello(helloOneAddress, rapid.Uint64().Draw(t, "id"), rapid.StringN(0, 40, 100).Draw(t, "address"))
		cut := rapid.IntRange(0, len(whole)-1).Draw(t, "cut")
		got, err := readvertise("127.0.0.1:1")(bytes.NewReader(whole[:cut]))
		if !bytes.Equal(got, whole[:cut]) {
			t.Fatalf("%q passes of %q", got, whole[:cut])
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("error %v: want the end of the stream", err)
		}
	})
}
