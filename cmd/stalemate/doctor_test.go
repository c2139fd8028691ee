package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// machine makes a machine that has what is asked for: a java command, a
// ZooKeeper, a Docker engine. Everything else is out of sight.
func machine(t *testing.T, java, jars, docker bool) {
	t.Helper()
	dir := t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("bin/apt-get", "#!/bin/sh\n")
	if java {
		write("java/bin/java", "#!/bin/sh\necho 'openjdk version \"17.0.9\"' >&2\n")
	}
	if jars {
		write("zookeeper/lib/zookeeper-3.9.3.jar", "")
		write("zookeeper/lib/logback-classic-1.2.13.jar", "")
	}
	socket := filepath.Join(dir, "docker.sock")
	if docker {
		l, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("API-Version", "1.50")
			w.Header().Set("OSType", "linux")
			io.WriteString(w, `{"Version":"28.2.2","ApiVersion":"1.50"}`)
		})}
		go server.Serve(l)
		t.Cleanup(func() { server.Close() })
	}
	t.Setenv("PATH", filepath.Join(dir, "bin"))
	t.Setenv("JAVA_HOME", filepath.Join(dir, "java"))
	t.Setenv("ZOOKEEPER_HOME", filepath.Join(dir, "zookeeper"))
	t.Setenv("DOCKER_HOST", "unix://"+socket)
}

// doctor runs the command and gives what it prints and its exit code.
func doctor(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	c := newDoctor()
	c.SetArgs(args)
	c.SetOut(&out)
	c.SilenceUsage, c.SilenceErrors = true, true
	err := c.ExecuteContext(t.Context())
	var exit *exitError
	switch {
	case err == nil:
		return out.String(), exitHolds
	case errors.As(err, &exit):
		return out.String(), exit.code
	}
	t.Fatal(err)
	return "", 0
}

func TestDoctor(t *testing.T) {
	for _, c := range []struct {
		rule               string
		java, jars, docker bool
		code               int
		want               []string
	}{
		{"all is there", true, true, true, exitHolds, []string{"17.0.9", "3.9.3", "28.2.2", "is possible"}},
		{"Docker is not needed", true, true, false, exitHolds, []string{"absent   Docker", "is possible"}},
		{"Java is", false, true, true, exitFailed, []string{"MISSING  Java", "get it: apt-get install -y --no-install-recommends default-jre-headless", "not possible yet"}},
		{"so are the jars, and a wrong ZOOKEEPER_HOME is named", true, false, true, exitFailed, []string{"MISSING  ZooKeeper", "ZOOKEEPER_HOME", "no such folder"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			machine(t, c.java, c.jars, c.docker)
			out, code := doctor(t)
			if code != c.code {
				t.Errorf("exit code %d: want %d", code, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("it does not say %q:\n%s", want, out)
				}
			}
		})
	}
}

func TestDoctorAsJSON(t *testing.T) {
	machine(t, true, false, false)
	out, code := doctor(t, "--json")
	var d diagnosis
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	if code != exitFailed || d.LocalZooKeeper {
		t.Errorf("exit code %d, local_zookeeper %v: want %d and false", code, d.LocalZooKeeper, exitFailed)
	}
	found := make(map[string]bool)
	for _, f := range d.Findings {
		found[f.Name] = f.Found
		if !f.Found && f.Get == "" {
			t.Errorf("%s is not found, and nothing says how to get it", f.Name)
		}
	}
	if !found["Java"] || found["ZooKeeper"] || found["Docker engine"] || found["Go"] {
		t.Errorf("found %v: want Java alone", found)
	}
}
