package local

import (
	"net"
	"os"
	"testing"
)

func TestDialler(t *testing.T) {
	if !TellsDiallers {
		t.Skip("this system does not tell who dials")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer dialled.Close()
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	if who, err := Dialler(accepted, map[int]string{os.Getpid(): "me", 1: "init"}); err != nil || who != "me" {
		t.Errorf("dialled by %q, %v", who, err)
	}
	if who, err := Dialler(accepted, map[int]string{}); err == nil {
		t.Errorf("dialled by %q, who is none of the processes", who)
	}
}
