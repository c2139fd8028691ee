package kafka

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stalemate-io/stalemate/systems/zookeeper"
)

// Installation is a Java and the jars of a Kafka, on this machine or in an image.
type Installation struct {
	Java, JavaVersion string
	// Libs is the folder of the jars, Version Kafka's own ("3.9.2").
	Libs, Version string
}

// kafka gives the arguments by which Java finds Kafka, followed by others.
func (in Installation) kafka(arguments []string) []string {
	return append([]string{"-cp", in.Libs + "/*"}, arguments...)
}

// MissingError says what a mode lacks on this machine.
type MissingError struct {
	Mode   Mode
	What   string
	Looked string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s for %s not found (%s); to get it: make kafka, or set KAFKA_HOME to an unpacked release", e.What, e.Mode, e.Looked)
}

// Find finds the jars of a Kafka that has the mode: in home, else in KAFKA_HOME,
// else in the cache that "make kafka" fills.
func Find(ctx context.Context, mode Mode, home, java string) (Installation, error) {
	var in Installation
	found, err := zookeeper.FindJava(ctx, java)
	if err != nil {
		return in, err
	}
	in.Java, in.JavaVersion = found.Java, found.JavaVersion
	if home == "" {
		home = os.Getenv("KAFKA_HOME")
	}
	folders := []string{filepath.Join(home, "libs"), home}
	looked := "in " + home
	if home == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return in, &MissingError{mode, "Kafka's jars", err.Error()}
		}
		pattern := filepath.Join(cache, "stalemate", "kafka-*", "complete")
		complete, err := filepath.Glob(pattern)
		if err != nil {
			return in, err
		}
		folders = nil
		for _, c := range complete {
			folders = append(folders, filepath.Join(filepath.Dir(c), "libs"))
		}
		looked = "in " + filepath.Join(cache, "stalemate") + "; KAFKA_HOME is not set"
	}
	for _, dir := range folders {
		if version := versionIn(dir); version != "" && has(version, mode) && newer(version, in.Version) {
			in.Libs, in.Version = dir, version
		}
	}
	if in.Libs == "" {
		return in, &MissingError{mode, "Kafka's jars", looked}
	}
	return in, nil
}

// versionIn tells the version of the Kafka whose jars are in a folder.
func versionIn(dir string) string {
	jars, _ := filepath.Glob(filepath.Join(dir, "kafka_2.1*-[0-9]*.jar"))
	for _, jar := range jars {
		_, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(jar), ".jar"), "-")
		if !strings.Contains(version, "-") { // neither sources nor tests
			return version
		}
	}
	return ""
}

// has tells whether a version has the mode: ZooKeeper went with 4.0 (KIP-833), and
// the log is held to what that release and later ones do.
func has(version string, mode Mode) bool {
	major := numbersOf(version)[0]
	return mode == ZooKeeper && major == 3 || mode == KRaft && major >= 4
}

func newer(a, b string) bool { return b == "" || slices.Compare(numbersOf(a), numbersOf(b)) > 0 }

func numbersOf(version string) []int {
	var out []int
	for _, s := range strings.Split(version, ".") {
		n, _ := strconv.Atoi(s)
		out = append(out, n)
	}
	return out
}
