package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/histories"
)

func newConvert() *cobra.Command {
	var to, from, out string
	var keyed bool
	c := &cobra.Command{
		Use:   "convert HISTORY",
		Short: "Write a history in another format",
		Long: `Reads a history in any format (JSONL, JSON, Jepsen's history.edn, history.txt
and logs; plain, gzip or Zstandard; "-" is the standard input) and writes it as
JSONL, EDN or JSON. JSONL and EDN keep everything. JSON is the form that
elle-cli takes, which has no keywords, sets or keys that are not strings.`,
		Example: `  stalemate convert history.edn -o history.jsonl
  stalemate convert store/latest/history.jsonl --to edn | less
  zcat old.txt.gz | stalemate convert - --to json > old.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			target, err := histories.ParseFormat(to)
			if err != nil {
				return &exitError{exitUsage, fmt.Errorf("--to: %w", err)}
			}
			source, err := histories.ParseFormat(from)
			if err != nil {
				return &exitError{exitUsage, fmt.Errorf("--format: %w", err)}
			}
			o := histories.ReadOptions{Format: source, Keyed: keyed, Name: args[0]}
			return convert(c, args[0], o, out, target)
		},
	}
	c.Flags().StringVar(&to, "to", "jsonl", "format to write: jsonl, edn or json")
	c.Flags().StringVar(&from, "format", "auto", "format to read: auto, jsonl, json, edn or text")
	c.Flags().StringVarP(&out, "output", "o", "", "file to write; the standard output by default")
	c.Flags().BoolVar(&keyed, "keyed", false, "take each value for [key value]")
	return c
}

func convert(c *cobra.Command, path string, o histories.ReadOptions, out string, to histories.Format) (err error) {
	in := io.NopCloser(c.InOrStdin())
	if path == "-" {
		o.Name = "standard input"
	} else if in, err = os.Open(path); err != nil {
		return &exitError{exitUsage, err}
	}
	defer in.Close()
	if out == "" {
		return convertTo(c, in, o, c.OutOrStdout(), to)
	}
	// The file appears whole or not at all, and may be the one that is read.
	f, err := os.CreateTemp(filepath.Dir(out), filepath.Base(out)+".*.tmp")
	if err != nil {
		return &exitError{exitUsage, err}
	}
	err = convertTo(c, in, o, f, to)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), out)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

func convertTo(c *cobra.Command, in io.Reader, o histories.ReadOptions, out io.Writer, to histories.Format) error {
	w, err := histories.NewWriter(out, to)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	summary, err := histories.ReadEvents(in, o, w.Write)
	if err != nil {
		var bad *histories.InputError
		if errors.As(err, &bad) {
			return &exitError{exitUsage, err}
		}
		return &exitError{exitFailed, err}
	}
	if err := w.Close(); err != nil {
		return &exitError{exitFailed, err}
	}
	for _, warning := range summary.Warnings {
		fmt.Fprintf(c.ErrOrStderr(), "stalemate: %s: warning: %s\n", o.Name, warning)
	}
	return nil
}
