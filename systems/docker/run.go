package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// Run runs a command to its end in a container of its own, without a network, and
// gives what it wrote to its standard output. Files and Log of the command have no
// meaning here. It fails where the command does, with what that said.
func (s *Space) Run(ctx context.Context, c Command) (out []byte, err error) {
	api := s.engine.api
	made, err := api.ContainerCreate(ctx, client.ContainerCreateOptions{
		Config: c.config(s), HostConfig: &container.HostConfig{NetworkMode: "none", Mounts: c.mounts()},
	})
	if err != nil {
		return nil, fmt.Errorf("a container of %s: %w", c.Image, err)
	}
	defer func() {
		removing, cancel := context.WithTimeout(context.WithoutCancel(ctx), actTimeout)
		defer cancel()
		_, removed := api.ContainerRemove(removing, made.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		err = errors.Join(err, ignoreGone(removed))
	}()
	ended := api.ContainerWait(ctx, made.ID, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit})
	if _, err := api.ContainerStart(ctx, made.ID, client.ContainerStartOptions{}); err != nil {
		return nil, fmt.Errorf("a container of %s: %w", c.Image, err)
	}
	var status int64
	select {
	case r := <-ended.Result:
		status = r.StatusCode
	case err := <-ended.Error:
		return nil, fmt.Errorf("a container of %s: %w", c.Image, err)
	}
	logs, err := api.ContainerLogs(ctx, made.ID, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true})
	if err != nil {
		return nil, err
	}
	defer logs.Close()
	var stdout, stderr bytes.Buffer
	if _, err := stdcopy.StdCopy(&stdout, &stderr, logs); err != nil {
		return nil, err
	}
	if status != 0 {
		return nil, fmt.Errorf("a container of %s: exit status %d: %s", c.Image, status, strings.TrimSpace(stderr.String()))
	}
	return stdout.Bytes(), nil
}
