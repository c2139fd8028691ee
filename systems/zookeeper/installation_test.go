package zookeeper

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// java makes a java command that answers -version with text.
func java(t *testing.T, text string, status string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "java")
	script := "#!/bin/sh\necho '" + text + "' >&2\nexit " + status + "\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// home makes a folder with the files named.
func home(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		path := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFindJava(t *testing.T) {
	good := home(t, "lib/zookeeper-3.9.3.jar")
	for _, c := range []struct {
		rule, java, version, failure string
	}{
		{"a new one", java(t, `openjdk version "21.0.2" 2024-01-16`, "0"), "21.0.2", ""},
		{"one of before Java 9", java(t, `java version "1.8.0_392"`, "0"), "1.8.0_392", ""},
		{"an early release", java(t, `openjdk version "22-ea" 2024-03-19`, "0"), "22-ea", ""},
		{"one that is too old", java(t, `java version "1.7.0_80"`, "0"), "", "Java 8 or newer"},
		{"one that only says that there is none", java(t, "The operation couldn’t be completed. Unable to locate a Java Runtime.", "1"), "", "Unable to locate"},
		{"one that is not there", "/nowhere/java", "", "/nowhere/java"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			in, err := Find(t.Context(), good, c.java)
			if in.JavaVersion != c.version || in.Version != "3.9.3" {
				t.Errorf("Java %q and ZooKeeper %q: want %q and 3.9.3", in.JavaVersion, in.Version, c.version)
			}
			checkMissing(t, err, PartJava, c.failure)
		})
	}
}

func TestFindJars(t *testing.T) {
	runs := java(t, `openjdk version "17.0.1"`, "0")
	release := home(t, "lib/zookeeper-3.8.4.jar", "lib/zookeeper-jute-3.8.4.jar", "lib/logback-classic-1.2.13.jar", "bin/zkServer.sh")
	old := home(t, "zookeeper-3.4.14.jar", "lib/slf4j-log4j12-1.7.25.jar")
	for _, c := range []struct {
		rule, home, failure string
		want                Installation
	}{
		{"a release keeps all in lib", release, "", Installation{
			ClassPath: []string{
				filepath.Join(release, "lib/logback-classic-1.2.13.jar"),
				filepath.Join(release, "lib/zookeeper-3.8.4.jar"),
				filepath.Join(release, "lib/zookeeper-jute-3.8.4.jar"),
			},
			Version: "3.8.4", Logs: true,
		}},
		{"an old release keeps its own jar beside lib", old, "", Installation{
			ClassPath: []string{filepath.Join(old, "lib/slf4j-log4j12-1.7.25.jar"), filepath.Join(old, "zookeeper-3.4.14.jar")},
			Version:   "3.4.14", Logs: true,
		}},
		{"a folder of sources has no jar", home(t, "zookeeper-server/pom.xml", "lib/zookeeper-jute-3.8.4.jar"), "no lib/zookeeper-<version>.jar", Installation{}},
		{"a folder that is not there", "/nowhere", "no such folder", Installation{}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			in, err := Find(t.Context(), c.home, runs)
			c.want.Java, c.want.JavaVersion = runs, "17.0.1"
			if d := cmp.Diff(c.want, in); d != "" {
				t.Errorf("found, against what was wanted:\n%s", d)
			}
			checkMissing(t, err, PartJars, c.failure)
		})
	}
}

func TestZookeeperHomeIsUsedWhereNoHomeIsGiven(t *testing.T) {
	dir := home(t, "lib/zookeeper-3.5.9.jar")
	t.Setenv("ZOOKEEPER_HOME", dir)
	in, err := Find(t.Context(), "", java(t, `openjdk version "17.0.1"`, "0"))
	if err != nil || in.Version != "3.5.9" {
		t.Errorf("version %q, %v: want 3.5.9", in.Version, err)
	}
}

func TestBothPartsMissingAreBothNamed(t *testing.T) {
	_, err := Find(t.Context(), "/nowhere", "/nowhere/java")
	for _, want := range []string{"Java not found", "ZooKeeper's jars not found", "to get it: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want it to say %q", err, want)
		}
	}
}

// checkMissing wants a MissingError of part that says failure, or no error where
// that is empty.
func checkMissing(t *testing.T, err error, part Part, failure string) {
	t.Helper()
	if failure == "" {
		if err != nil {
			t.Error(err)
		}
		return
	}
	var missing *MissingError
	if !errors.As(err, &missing) || missing.Part != part || !strings.Contains(err.Error(), failure) || missing.Get == "" {
		t.Errorf("%v: want a MissingError of %s that says %q and how to get it", err, part, failure)
	}
}

func TestOptions(t *testing.T) {
	defaults := Options{Dir: "d", Servers: 3, TickTime: 2 * time.Second, SyncLimit: 2, InitLimit: 10, HeapMB: 128}
	if got, err := (Options{Dir: "d"}).withDefaults(); err != nil || got != defaults {
		t.Errorf("%+v, %v: want %+v", got, err, defaults)
	}
	for _, c := range []struct {
		rule string
		o    Options
		want string
	}{
		{"no folder", Options{}, "set Dir"},
		{"an even number of servers", Options{Dir: "d", Servers: 4}, "want 1, 3 or 5"},
		{"a tick too short for Java", Options{Dir: "d", TickTime: time.Millisecond}, "between 100ms and 1m"},
		{"a tick that is no whole number of milliseconds", Options{Dir: "d", TickTime: time.Second + 1}, "whole milliseconds"},
		{"a negative sync limit", Options{Dir: "d", SyncLimit: -1}, "1 or more"},
		{"a negative init limit", Options{Dir: "d", InitLimit: -1}, "1 or more"},
		{"a heap too small", Options{Dir: "d", HeapMB: 1}, "32 or more"},
	} {
		if _, err := c.o.withDefaults(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v: want %q", c.rule, err, c.want)
		}
	}
}

func TestConfiguration(t *testing.T) {
	o, err := Options{Dir: "d", TickTime: 500 * time.Millisecond}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	want := `tickTime=500
initLimit=10
syncLimit=2
dataDir=/data/zk1
clientPortAddress=127.0.0.1
clientPort=100
maxClientCnxns=0
maxSessionTimeout=600000
4lw.commands.whitelist=*
admin.enableServer=false
server.1=127.0.0.1:1:2
server.2=127.0.0.1:3:4
server.3=127.0.0.1:5:6
`
	if d := cmp.Diff(want, configuration(o, "/data/zk1", 100, []peer{{1, 2}, {3, 4}, {5, 6}})); d != "" {
		t.Errorf("the configuration of three servers:\n%s", d)
	}
	if alone := configuration(o, "/data/zk1", 100, []peer{{1, 2}}); strings.Contains(alone, "server.") {
		t.Errorf("one server alone is configured as a member of an ensemble:\n%s", alone)
	}
}
