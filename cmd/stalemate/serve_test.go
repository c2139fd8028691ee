package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestServe(t *testing.T) {
	store := t.TempDir()
	if out, code := stalemate(t, "", "run", "push", "--time", "2s", "--settle", "2s", "--store", store); code != exitHolds {
		t.Fatalf("exit code %d: %s", code, out)
	}
	latest := filepath.Join(store, "latest")
	left, err := os.ReadFile(filepath.Join(latest, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"report.html", "verdict.json"} {
		if err := os.Remove(filepath.Join(latest, file)); err != nil {
			t.Fatal(err)
		}
	}

	ctx, interrupt := context.WithCancel(t.Context())
	read, write := io.Pipe()
	root := newRoot()
	root.SetArgs([]string{"serve", "--store", store, "--listen", "127.0.0.1:0"})
	root.SetOut(write)
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx) }()
	line := make([]byte, 4096)
	n, err := read.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	home := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(string(line[:n]))
	if home == "" {
		t.Fatalf("no address in %q", line[:n])
	}

	get := func(url string) (string, []byte) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.Body.Close() != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s %v", url, answer.StatusCode, body, err)
		}
		return answer.Request.URL.String(), body
	}
	page, body := get(home + "latest")
	if !bytes.Contains(body, []byte("has no verdict")) {
		t.Errorf("the page of a run without a verdict does not say so: %s", body)
	}
	if _, body = get(page + "report.html"); !bytes.HasPrefix(body, []byte("<!doctype html>")) || len(body) < len(left)/2 {
		t.Errorf("no report was made of the history: %d bytes, where the run had left %d", len(body), len(left))
	}
	if _, err := os.Stat(filepath.Join(latest, "verdict.json")); !os.IsNotExist(err) {
		t.Error("the verdict was kept:", err)
	}
	interrupt()
	if err := <-ended; err != nil {
		t.Error("an interrupt ends it in order, found", err)
	}
}

func TestServeRefusesAddressesThatOthersReach(t *testing.T) {
	store := t.TempDir()
	for _, listen := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.168.0.1:80", "example.org:80"} {
		if out, code := stalemate(t, "", "serve", "--store", store, "--listen", listen); code != exitUsage || !strings.Contains(out, "--beyond-loopback") {
			t.Errorf("--listen %s: exit code %d, %s", listen, code, out)
		}
	}
	if out, code := stalemate(t, "", "serve", "--store", filepath.Join(store, "none")); code != exitUsage || !strings.Contains(out, "stalemate run") {
		t.Errorf("without a store: exit code %d, %s", code, out)
	}
}
