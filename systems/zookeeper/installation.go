package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Installation is a Java and the ZooKeeper jars found on this machine.
type Installation struct {
	// Java is the path of the java command, JavaVersion its version as it
	// names it ("17.0.15").
	Java, JavaVersion string
	// ClassPath is what the servers run from, in the order given to Java.
	ClassPath []string
	// Version is ZooKeeper's version as the jar's name tells it ("3.8.0");
	// empty where it does not.
	Version string
	// Logs says whether the class path has a logging back end, without which
	// the servers' logs stay empty.
	Logs bool
}

// Part is one of the two things that local servers need.
type Part string

// The parts of an Installation.
const (
	PartJava Part = "java"
	PartJars Part = "jars"
)

// MissingError says what a run against local servers lacks, and how to get it.
type MissingError struct {
	Part   Part
	What   string // "Java", "ZooKeeper's jars"
	Looked string // where it was looked for
	Get    string // the command or setting that helps
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s not found (%s); to get it: %s", e.What, e.Looked, e.Get)
}

// minJava is the oldest major version of Java that ZooKeeper 3.5 and later
// servers run on.
const minJava = 8

// Find finds Java and ZooKeeper. home and java override what the environment
// says and may be empty. The error joins a MissingError for each part that is
// missing; the Installation then holds the other.
func Find(ctx context.Context, home, java string) (Installation, error) {
	var in Installation
	javaErr := in.findJava(ctx, java)
	return in, errors.Join(javaErr, in.findJars(home))
}

// FindJava finds Java alone, for what runs on it beside ZooKeeper.
func FindJava(ctx context.Context, java string) (Installation, error) {
	var in Installation
	err := in.findJava(ctx, java)
	return in, err
}

// keptJava is where Homebrew keeps the Java that its ZooKeeper depends on, out of
// PATH.
var keptJava = []string{
	"/opt/homebrew/opt/openjdk/bin/java",
	"/usr/local/opt/openjdk/bin/java",
	"/home/linuxbrew/.linuxbrew/opt/openjdk/bin/java",
}

// findJava tries the java command it is given, else that of JAVA_HOME, else
// those it may find.
func (in *Installation) findJava(ctx context.Context, java string) error {
	var candidates []string
	looked := "in PATH; JAVA_HOME is not set"
	switch home := os.Getenv("JAVA_HOME"); {
	case java != "":
		candidates, looked = []string{java}, "as "+java
	case home != "":
		candidates, looked = []string{filepath.Join(home, "bin", "java")}, "in JAVA_HOME="+home
	default:
		candidates = append([]string{"java"}, keptJava...)
	}
	missing := &MissingError{PartJava, "Java", looked, InstallAdvice().Java}
	for _, c := range candidates {
		path, err := exec.LookPath(c)
		if err != nil {
			continue
		}
		version, major, err := askJava(ctx, path)
		switch {
		case err != nil:
			missing.What, missing.Looked = "a Java that runs", err.Error()
		case major < minJava:
			missing.What, missing.Looked = fmt.Sprintf("Java %d or newer", minJava), fmt.Sprintf("%s is version %q", path, version)
		default:
			in.Java, in.JavaVersion = path, version
			return nil
		}
	}
	return missing
}

// askJava runs java -version. macOS has a java command that only says that there
// is no Java.
func askJava(ctx context.Context, path string) (version string, major int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "-version").CombinedOutput()
	if err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return "", 0, fmt.Errorf("%s -version: %w: %s", path, err, first)
	}
	version, major = javaVersion(string(out))
	return version, major, nil
}

var javaVersionPattern = regexp.MustCompile(`version "([^"]+)"`)

// javaVersion reads the output of java -version. Until Java 8 the major version
// was the second number ("1.8.0_392"), since then it is the first.
func javaVersion(out string) (version string, major int) {
	m := javaVersionPattern.FindStringSubmatch(out)
	if m == nil {
		return "", 0
	}
	numbers := strings.FieldsFunc(m[1], func(r rune) bool { return r < '0' || r > '9' })
	if len(numbers) > 1 && numbers[0] == "1" {
		numbers = numbers[1:]
	}
	if len(numbers) > 0 {
		major, _ = strconv.Atoi(numbers[0])
	}
	return m[1], major
}

// distributionJar is where Debian and its kin put the jar. Its manifest names
// all it needs but a logging back end.
const (
	distributionJar     = "/usr/share/java/zookeeper.jar"
	distributionLogging = "/usr/share/java/slf4j-simple.jar"
)

// homeFolders are where the package managers that unpack a whole ZooKeeper put
// it: Homebrew on either kind of Mac and on Linux, and common places by hand.
var homeFolders = []string{
	"/opt/homebrew/opt/zookeeper/libexec",
	"/usr/local/opt/zookeeper/libexec",
	"/home/linuxbrew/.linuxbrew/opt/zookeeper/libexec",
	"/opt/zookeeper",
	"/usr/local/zookeeper",
}

func (in *Installation) findJars(home string) error {
	if home == "" {
		home = os.Getenv("ZOOKEEPER_HOME")
	}
	if home != "" {
		if err := in.useHome(home); err != nil {
			return &MissingError{PartJars, "ZooKeeper's jars", fmt.Sprintf("in ZOOKEEPER_HOME=%s: %v", home, err), "set ZOOKEEPER_HOME to an unpacked ZooKeeper, whose folder lib holds zookeeper-<version>.jar"}
		}
		return nil
	}
	if _, err := os.Stat(distributionJar); err == nil {
		in.ClassPath = []string{distributionJar}
		if _, err := os.Stat(distributionLogging); err == nil {
			in.ClassPath = append(in.ClassPath, distributionLogging)
			in.Logs = true
		}
		in.Version = jarVersion(distributionJar)
		return nil
	}
	for _, folder := range homeFolders {
		if in.useHome(folder) == nil {
			return nil
		}
	}
	return &MissingError{PartJars, "ZooKeeper's jars", "in " + distributionJar + " and " + strings.Join(homeFolders, ", ") + "; ZOOKEEPER_HOME is not set", InstallAdvice().ZooKeeper}
}

// useHome takes all jars of an unpacked release: from its folder lib, and, as
// before 3.5.5, from the folder itself.
func (in *Installation) useHome(home string) error {
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		return errors.New("no such folder")
	}
	var jars []string
	for _, pattern := range []string{"lib/*.jar", "*.jar"} {
		found, err := filepath.Glob(filepath.Join(home, pattern))
		if err != nil {
			return err
		}
		jars = append(jars, found...)
	}
	for _, jar := range jars {
		if zookeeperJar.MatchString(filepath.Base(jar)) {
			in.ClassPath = jars
			in.Version = jarVersion(jar)
			in.Logs = hasLogging(jars)
			return nil
		}
	}
	return errors.New("no lib/zookeeper-<version>.jar")
}

// hasLogging says whether one of the jars binds slf4j to something that writes.
func hasLogging(jars []string) bool {
	for _, jar := range jars {
		name := filepath.Base(jar)
		for _, backend := range []string{"slf4j-simple", "slf4j-log4j", "slf4j-reload4j", "logback-classic"} {
			if strings.HasPrefix(name, backend) {
				return true
			}
		}
	}
	return false
}

// zookeeperJar is the main jar's name; zookeeper-jute-3.8.0.jar is another.
var zookeeperJar = regexp.MustCompile(`^zookeeper(?:-(\d+(?:\.\d+)+).*)?\.jar$`)

// jarVersion takes the version from a jar's name or, as distributions keep one
// jar under two names, from its other name in the same folder.
func jarVersion(jar string) string {
	if m := zookeeperJar.FindStringSubmatch(filepath.Base(jar)); m != nil && m[1] != "" {
		return m[1]
	}
	this, err := os.Stat(jar)
	if err != nil {
		return ""
	}
	// The pattern is well formed, so Glob does not fail.
	others, _ := filepath.Glob(filepath.Join(filepath.Dir(jar), "zookeeper-*.jar"))
	for _, other := range others {
		m := zookeeperJar.FindStringSubmatch(filepath.Base(other))
		if m == nil {
			continue
		}
		if info, err := os.Stat(other); err == nil && os.SameFile(this, info) {
			return m[1]
		}
	}
	return ""
}
