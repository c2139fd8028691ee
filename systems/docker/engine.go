package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// Engine is a Docker engine that answers.
type Engine struct {
	api     *client.Client
	version string
	arch    string
	// user is who containers run as that write into folders of this machine, so
	// that what they leave is this user's.
	user string
}

const (
	// answerTimeout bounds the wait for an engine to say that it is there.
	answerTimeout = 5 * time.Second
	// actTimeout bounds one thing asked of an engine, such as a start.
	actTimeout = 30 * time.Second
)

// AbsentError says that no Docker engine can be used, and why.
type AbsentError struct {
	Host string // where it was looked for
	Err  error
}

func (e *AbsentError) Error() string {
	return fmt.Sprintf("no Docker engine at %s (%v); start one, or set DOCKER_HOST to where it listens", e.Host, e.Err)
}

// Unwrap gives why.
func (e *AbsentError) Unwrap() error { return e.Err }

// Connect finds the engine that DOCKER_HOST and its kin name, or that of this
// machine. The error is an *AbsentError where there is none that can be used.
func Connect(ctx context.Context) (*Engine, error) {
	api, err := client.New(client.FromEnv)
	if err != nil {
		return nil, fmt.Errorf("the settings of the Docker engine (DOCKER_HOST, DOCKER_CERT_PATH, …): %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	e, err := ask(ctx, api)
	if err != nil {
		return nil, &AbsentError{Host: api.DaemonHost(), Err: errors.Join(err, api.Close())}
	}
	return e, nil
}

func ask(ctx context.Context, api *client.Client) (*Engine, error) {
	ping, err := api.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
	switch {
	case errdefs.IsPermissionDenied(err):
		return nil, fmt.Errorf("%w: is this user in the group docker?", err)
	case err != nil:
		return nil, err
	case ping.OSType != "linux":
		return nil, fmt.Errorf("its containers are of %q: expected linux", ping.OSType)
	}
	v, err := api.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return nil, fmt.Errorf("it is too old, or no Docker engine: expected API %s or newer, it has %q: %w", client.MinAPIVersion, ping.APIVersion, err)
	}
	info, err := api.Info(ctx, client.InfoOptions{})
	if err != nil {
		return nil, err
	}
	// The root of a rootless engine's containers is the user who runs it.
	e := &Engine{api: api, version: v.Version, arch: v.Arch, user: "0:0"}
	if uid := os.Getuid(); uid > 0 && !slices.Contains(info.Info.SecurityOptions, "name=rootless") {
		e.user = fmt.Sprintf("%d:%d", uid, os.Getgid())
	}
	return e, nil
}

// Version is the engine's version.
func (e *Engine) Version() string { return e.version }

// Host is where the engine listens.
func (e *Engine) Host() string { return e.api.DaemonHost() }

// Close ends the connections to the engine. What runs on it goes on.
func (e *Engine) Close() error { return e.api.Close() }

// ignoreGone takes away the error of what was not there to be removed.
func ignoreGone(err error) error {
	if errdefs.IsNotFound(err) {
		return nil
	}
	return err
}
