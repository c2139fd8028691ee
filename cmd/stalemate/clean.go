package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/systems/docker"
)

// newClean removes what killed runs left on a Docker engine.
func newClean() *cobra.Command {
	var all, images bool
	c := &cobra.Command{
		Use:   "clean",
		Short: "Remove what killed runs left on the Docker engine",
		Long: `clean removes the containers and networks of runs --on docker that were killed
before they could do it themselves. What belongs to a run that goes on stays,
unless --all is given. It touches nothing without this program's label.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := clean(c.Context(), c.OutOrStdout(), all, images); err != nil {
				return &exitError{exitFailed, err}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&all, "all", false, "remove what belongs to runs that go on, too")
	c.Flags().BoolVar(&images, "images", false, "remove the images that hold this program, too")
	return c
}

func clean(ctx context.Context, w io.Writer, all, images bool) error {
	engine, err := docker.Connect(ctx)
	if err != nil {
		return err
	}
	defer engine.Close()
	leftovers, err := engine.Leftovers(ctx)
	if err != nil {
		return err
	}
	removed := 0
	for _, l := range leftovers {
		if l.Alive && !all {
			fmt.Fprintf(w, "%s goes on: left alone (%d containers, %d networks)\n", l.Run, l.Containers, l.Networks)
			continue
		}
		if err := engine.Remove(ctx, l); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: removed %d containers, %d networks\n", l.Run, l.Containers, l.Networks)
		removed++
	}
	if images {
		n, err := engine.RemoveImages(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "removed %d images\n", n)
	} else if removed == 0 {
		fmt.Fprintln(w, "Nothing to remove.")
	}
	return nil
}
