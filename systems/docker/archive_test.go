package docker

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatIsUnpackedStaysInItsFolder(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []*tar.Header{
		{Typeflag: tar.TypeDir, Name: "data/"},
		{Typeflag: tar.TypeDir, Name: "data/version-2/"},
		{Typeflag: tar.TypeReg, Name: "data/version-2/log.1", Size: 3},
		{Typeflag: tar.TypeSymlink, Name: "data/out", Linkname: "/"},
	} {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("log")[:h.Size]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := unpack(&b, root); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "version-2", "log.1")); err != nil || string(text) != "log" {
		t.Errorf("the log is %q, %v", text, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "out")); !os.IsNotExist(err) {
		t.Errorf("a link was unpacked: %v", err)
	}
	for _, name := range []string{"data/../../outside", "data/a/../../../outside"} {
		b.Reset()
		w := tar.NewWriter(&b)
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_ = unpack(&b, root) // refused, or harmless
		if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "outside")); err == nil {
			t.Errorf("%s was written outside of the folder", name)
		}
	}
}

func TestAProgramThatNeedsMoreThanAKernelDoesNotFit(t *testing.T) {
	if err := fits([]byte("#!/bin/sh\n"), "amd64"); err == nil || !strings.Contains(err.Error(), "no program of linux") {
		t.Errorf("a script: %v", err)
	}
	shell, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Skip(err)
	}
	if err := fits(shell, "amd64"); err == nil {
		t.Error("a shell that needs libraries fits")
	}
}
