package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/systems/docker"
	"github.com/stalemate-io/stalemate/systems/zookeeper"
)

// finding is one thing that a run may need.
type finding struct {
	Name     string `json:"name"`
	Found    bool   `json:"found"`
	Required bool   `json:"required"` // for a run against local ZooKeeper servers
	Version  string `json:"version,omitempty"`
	Where    string `json:"where,omitempty"`
	Note     string `json:"note,omitempty"`
	Get      string `json:"get,omitempty"` // the command or setting that helps
}

// diagnosis is what doctor says with --json.
type diagnosis struct {
	LocalZooKeeper bool      `json:"local_zookeeper"`
	Findings       []finding `json:"findings"`
}

func newDoctor() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine has for a run, what it lacks and how to get that",
		Long: `doctor looks for what a run against real servers needs: Java and ZooKeeper's jars
for servers as processes of this machine, and, not needed for those, a Docker
engine, Go, and kcat, with which to ask the brokers of a run what they believe. The simulator and the check of recorded histories need none of it.

It exits with 0 if a run against local ZooKeeper servers is possible, else 3.`,
		Example: `  stalemate doctor
  ZOOKEEPER_HOME=~/apache-zookeeper-3.9.3-bin stalemate doctor
  stalemate doctor --json | jq .local_zookeeper`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			d := diagnose(c.Context())
			var err error
			if asJSON {
				err = printJSON(c.OutOrStdout(), d)
			} else {
				err = d.print(c.OutOrStdout())
			}
			if err != nil {
				return &exitError{exitFailed, err}
			}
			if !d.LocalZooKeeper {
				return &exitError{code: exitFailed}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	return c
}

func diagnose(ctx context.Context) diagnosis {
	in, err := zookeeper.Find(ctx, "", "")
	java := finding{Name: "Java", Required: true, Found: in.Java != "", Version: in.JavaVersion, Where: in.Java}
	jars := finding{Name: "ZooKeeper", Required: true, Found: len(in.ClassPath) > 0, Version: in.Version}
	if jars.Found {
		jars.Where = in.ClassPath[0]
		if !in.Logs {
			jars.Note = "no logging back end: the servers' logs will be empty"
			jars.Get = zookeeper.InstallAdvice().Logging
		}
	}
	for _, missing := range missingParts(err) {
		f := &jars
		if missing.Part == zookeeper.PartJava {
			f = &java
		}
		f.Note = fmt.Sprintf("%s not found (%s)", missing.What, missing.Looked)
		f.Get = missing.Get
	}
	return diagnosis{
		LocalZooKeeper: err == nil,
		Findings:       []finding{java, jars, findDocker(ctx), findGo(ctx), findKcat(ctx)},
	}
}

// missingParts takes an error of zookeeper.Find apart, which joins one for each
// part.
func missingParts(err error) []*zookeeper.MissingError {
	var parts []*zookeeper.MissingError
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			parts = append(parts, missingParts(e)...)
		}
		return parts
	}
	var missing *zookeeper.MissingError
	if errors.As(err, &missing) {
		parts = append(parts, missing)
	}
	return parts
}

// lookTimeout bounds each look at something that might not answer.
const lookTimeout = 3 * time.Second

// findDocker asks the engine for its version; the command line tool need not be
// there.
func findDocker(ctx context.Context) finding {
	f := finding{Name: "Docker engine", Get: "https://docs.docker.com/engine/install, or set DOCKER_HOST"}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	engine, err := docker.Connect(ctx)
	if err != nil {
		f.Note = err.Error()
		var absent *docker.AbsentError
		if errors.As(err, &absent) {
			f.Where, f.Note = absent.Host, fmt.Sprintf("not usable at %s: %v", absent.Host, absent.Err)
		}
		return f
	}
	defer engine.Close()
	f.Found, f.Version, f.Where, f.Get = true, engine.Version(), engine.Host(), ""
	if image, err := zookeeper.ChooseImage(ctx, engine); err == nil {
		if has, err := engine.HasImage(ctx, image); err == nil && !has {
			f.Note = fmt.Sprintf("run zookeeper --on docker will pull %s; make images builds one without a registry", image)
		}
	}
	return f
}

func findGo(ctx context.Context) finding {
	f := finding{Name: "Go", Get: "https://go.dev/dl"}
	path, err := exec.LookPath("go")
	if err != nil {
		f.Note = "not in PATH; needed only to build stalemate"
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "env", "GOVERSION").Output()
	if err != nil {
		f.Note = fmt.Sprintf("%s env GOVERSION: %v", path, err)
		return f
	}
	f.Found, f.Get = true, ""
	f.Version, f.Where = strings.TrimPrefix(strings.TrimSpace(string(out)), "go"), path
	return f
}

func findKcat(ctx context.Context) finding {
	f := finding{Name: "kcat", Get: "apt-get install kcat, or brew install kcat"}
	path, err := exec.LookPath("kcat")
	if err != nil {
		f.Note = "not in PATH; kcat -L -b asks a broker of a run what it believes"
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "-V").CombinedOutput()
	if err != nil {
		f.Note = fmt.Sprintf("%s -V: %v", path, err)
		return f
	}
	f.Found, f.Get, f.Where = true, "", path
	for _, line := range strings.Split(string(out), "\n") {
		if version, ok := strings.CutPrefix(line, "Version "); ok {
			f.Version, _, _ = strings.Cut(version, " ")
		}
	}
	return f
}

func (d diagnosis) print(w io.Writer) error {
	for _, f := range d.Findings {
		mark := "ok"
		switch {
		case !f.Found && f.Required:
			mark = "MISSING"
		case !f.Found:
			mark = "absent"
		}
		line := fmt.Sprintf("%-8s %-14s", mark, f.Name)
		if f.Found {
			line += fmt.Sprintf(" %-10s %s", f.Version, f.Where)
		} else {
			line += " " + f.Note
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
		if f.Found && f.Note != "" {
			fmt.Fprintf(w, "%24s%s\n", "", f.Note)
		}
		if f.Get != "" {
			fmt.Fprintf(w, "%24sget it: %s\n", "", f.Get)
		}
	}
	answer := "A run against ZooKeeper servers on this machine is possible."
	if !d.LocalZooKeeper {
		answer = "A run against ZooKeeper servers on this machine is not possible yet."
	}
	_, err := fmt.Fprintf(w, "\n%s (%s/%s)\n", answer, runtime.GOOS, runtime.GOARCH)
	return err
}
