package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stalemate-io/stalemate/checker"
	"github.com/stalemate-io/stalemate/histories"
	"github.com/stalemate-io/stalemate/reports/html"
	"github.com/stalemate-io/stalemate/reports/serve"
)

// serveFlags are the settings of a server.
type serveFlags struct {
	store, listen string
	hosts         []string
	beyond        bool
}

func newServe() *cobra.Command {
	f := serveFlags{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Show the runs of a store in a browser",
		Long: `Serves the runs of a store on this machine: a list of them, newest first, a page
and the report of each, two side by side, and a run in progress as it goes. It
writes nothing, shows nothing from outside the store, and is asked by nobody but
this machine. There is no login: --beyond-loopback shows the store to whoever
reaches the address.`,
		Example: `  stalemate serve
  stalemate serve --store results --listen 127.0.0.1:9000`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.serve(c) },
	}
	fs := c.Flags()
	fs.StringVar(&f.store, "store", "store", "folder that runs are kept in")
	fs.StringVar(&f.listen, "listen", "127.0.0.1:8080", "address to listen on; port 0 takes one that is free")
	fs.BoolVar(&f.beyond, "beyond-loopback", false, "allow --listen to be an address that other machines reach")
	fs.StringSliceVar(&f.hosts, "host", nil, "further names under which browsers may ask for the server")
	return c
}

// shutdownTime is how long requests may take that are under way when the server
// is told to stop.
const shutdownTime = 2 * time.Second

func (f *serveFlags) serve(c *cobra.Command) error {
	if err := f.allowed(); err != nil {
		return &exitError{exitUsage, err}
	}
	s, err := serve.New(serve.Options{Store: f.store, Report: storedReport, Hosts: f.hosts, AnyAddress: f.beyond})
	if err != nil {
		return &exitError{exitUsage, err}
	}
	ctx := c.Context()
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", f.listen)
	if err != nil {
		return &exitError{exitFailed, errors.Join(fmt.Errorf("%w; --listen takes another address", err), s.Close())}
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
		defer cancel()
		stopped <- server.Shutdown(late)
	}()
	fmt.Fprintf(c.OutOrStdout(), "%s is shown at http://%s/ until this is interrupted\n", f.store, l.Addr())
	if err = server.Serve(l); errors.Is(err, http.ErrServerClosed) {
		err = <-stopped
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return &exitError{exitFailed, err}
	}
	return nil
}

// allowed refuses addresses that other machines reach, unless that was asked for.
// A name other than localhost may lead anywhere, today or tomorrow.
func (f *serveFlags) allowed() error {
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return fmt.Errorf("--listen %s: expected an address and a port, such as 127.0.0.1:8080: %w", f.listen, err)
	}
	addr, err := netip.ParseAddr(host)
	if f.beyond || strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback() {
		return nil
	}
	return fmt.Errorf("--listen %s: expected a loopback address, since there is no login; --beyond-loopback allows others", f.listen)
}

// storedReport makes the report of a run from the files of its folder. Where there
// is no verdict yet the history is checked, and the verdict kept nowhere.
func storedReport(ctx context.Context, name string, files fs.FS) ([]byte, error) {
	text, err := fs.ReadFile(files, histories.RunFile)
	if err != nil {
		return nil, err
	}
	run := &histories.Run{}
	if run.Info, err = histories.ParseRunInfo(text, histories.RunFile); err != nil {
		return nil, err
	}
	file, err := files.Open(histories.HistoryFile)
	if err != nil {
		return nil, err
	}
	h, err := histories.ReadHistory(file, histories.ReadOptions{Format: histories.JSONL, Name: histories.HistoryFile})
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	o := runOptions(run, checker.Options{})
	v, err := storedOrMade(ctx, h, files, o)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = html.Write(&out, html.Input{Name: run.Info.Name, History: h, Verdict: v, Options: o, Info: &run.Info, Version: version()})
	return out.Bytes(), err
}

// storedOrMade reads the verdict of a folder, or makes it.
func storedOrMade(ctx context.Context, h *histories.History, files fs.FS, o checker.Options) (*checker.Verdict, error) {
	text, err := fs.ReadFile(files, histories.VerdictFile)
	if err == nil {
		v := &checker.Verdict{}
		return v, json.Unmarshal(text, v)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var log *histories.Log
	file, err := files.Open(histories.LogFile)
	if err == nil {
		log, err = histories.ReadLog(file, histories.LogFile)
		err = errors.Join(err, file.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	o.Timeout = time.Minute // somebody waits for the page
	return judgeHistory(ctx, h, log, o)
}
