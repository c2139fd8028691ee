package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// Leftover is what a run has on an engine.
type Leftover struct {
	// Run is the value of the run's label.
	Run string
	// Containers and Networks count them.
	Containers, Networks int
	// Alive says that the run goes on: the process that made it is connected, so
	// that none of its hosts has ended.
	Alive bool
}

// Leftovers lists what runs have on the engine, of which those that are not alive
// were killed.
func (e *Engine) Leftovers(ctx context.Context) ([]Leftover, error) {
	containers, err := e.containers(ctx, runLabel)
	if err != nil {
		return nil, err
	}
	networks, err := e.api.NetworkList(ctx, client.NetworkListOptions{Filters: labelled(runLabel)})
	if err != nil {
		return nil, err
	}
	runs, ended := map[string]*Leftover{}, map[string]bool{}
	of := func(labels map[string]string) *Leftover {
		name := labels[runLabel]
		if runs[name] == nil {
			runs[name] = &Leftover{Run: name}
		}
		return runs[name]
	}
	for _, c := range containers {
		l := of(c.Labels)
		l.Containers++
		if c.Labels[hostLabel] != "" {
			l.Alive = true
			ended[l.Run] = ended[l.Run] || c.State == container.StateExited || c.State == container.StateDead
		}
	}
	for _, n := range networks.Items {
		of(n.Labels).Networks++
	}
	var all []Leftover
	for name, l := range runs {
		l.Alive = l.Alive && !ended[name]
		all = append(all, *l)
	}
	slices.SortFunc(all, func(a, b Leftover) int { return cmp.Compare(a.Run, b.Run) })
	return all, nil
}

// Remove removes what a run has on the engine, whether it goes on or not.
func (e *Engine) Remove(ctx context.Context, l Leftover) error { return e.remove(ctx, l.Run) }

// remove removes the containers and networks of a run.
func (e *Engine) remove(ctx context.Context, run string) error {
	containers, err := e.containers(ctx, runLabel+"="+run)
	if err != nil {
		return fmt.Errorf("what is left of run %s: %w", run, err)
	}
	// Nodes before the hosts that they are in, all of a kind at once.
	var nodes, hosts []string
	for _, c := range containers {
		if c.Labels[hostLabel] == "" {
			nodes = append(nodes, c.ID)
		} else {
			hosts = append(hosts, c.ID)
		}
	}
	for _, ids := range [][]string{nodes, hosts} {
		errs := make([]error, len(ids))
		var wg sync.WaitGroup
		for i, id := range ids {
			wg.Go(func() {
				_, err := e.api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
				errs[i] = ignoreGone(err)
			})
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	networks, err := e.api.NetworkList(ctx, client.NetworkListOptions{Filters: labelled(runLabel + "=" + run)})
	if err != nil {
		return err
	}
	for _, n := range networks.Items {
		if _, err := e.api.NetworkRemove(ctx, n.ID, client.NetworkRemoveOptions{}); ignoreGone(err) != nil {
			return err
		}
	}
	return nil
}

// RemoveImages removes the images that hold this program, of all builds, and says
// how many there were.
func (e *Engine) RemoveImages(ctx context.Context) (int, error) {
	images, err := e.api.ImageList(ctx, client.ImageListOptions{Filters: labelled(imageLabel)})
	if err != nil {
		return 0, err
	}
	for i, image := range images.Items {
		if _, err := e.api.ImageRemove(ctx, image.ID, client.ImageRemoveOptions{Force: true}); ignoreGone(err) != nil {
			return i, err
		}
	}
	return len(images.Items), nil
}

func (e *Engine) containers(ctx context.Context, label string) ([]container.Summary, error) {
	list, err := e.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: labelled(label)})
	return list.Items, err
}

func labelled(label string) client.Filters { return client.Filters{}.Add("label", label) }
