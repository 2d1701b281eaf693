package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"crawler/crawl"
)

// defaultData is the data directory where none is named.
const defaultData = "./crawl"

func (a *app) runCommand() *cobra.Command {
	var s settings
	var seeds, data, progress string
	cmd := &cobra.Command{
		Use:   "run --seeds FILE",
		Short: "Start a crawl, or go on with it",
		Long: `Start a crawl from the seeds, or go on with the one in the data directory; the directory alone
resumes it, with the settings it was started with.

A seeds file has one URL a line. Lines that begin with # are comments; a line without a scheme
means https, and http should that not answer. The file may be gzipped; - is standard input.

Every flag but --seeds, --data and --progress can stand in the YAML file too. A flag wins over the
file, the file over the default. Changes of the file's politeness take effect while the crawl runs.`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.crawl(cmd.Context(), &s, seeds, data, progress)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&seeds, "seeds", "", "`FILE` of URLs to start from, one a line; - is standard input")
	flags.StringVar(&data, "data", defaultData, "the crawl's `DIR`; alone it resumes")
	s.register(flags)
	flags.StringVar(&progress, "progress", "auto", "auto, plain or none")
	return cmd
}

func (a *app) crawl(ctx context.Context, s *settings, seedsFile, data, progress string) error {
	seeds, err := a.readSeeds(seedsFile)
	if err != nil {
		return err
	}
	if err := s.recall(data); err != nil {
		return err
	}
	cfg, err := s.load()
	if err != nil {
		return err
	}
	show, err := a.newProgress(progress)
	if err != nil {
		return err
	}
	cc := a.crawlConfig(cfg)
	c, err := crawl.Open(data, cc)
	if err != nil {
		return err
	}
	err = a.crawlOpen(ctx, c, s, seeds, show, cc.Log)
	if closeErr := c.Close(); closeErr != nil {
		return errors.Join(err, closeErr)
	}
	return err
}

// crawlOpen runs an open crawl to its end and prints the summary.
func (a *app) crawlOpen(ctx context.Context, c *crawl.Crawl, s *settings, seeds []crawl.Seed, show *progress, log *slog.Logger) error {
	if len(seeds) == 0 && c.Stats().URLs.Admitted == 0 {
		return &usageError{errors.New("nothing to crawl: name a file of URLs with --seeds")}
	}
	keep, err := s.keep()
	if err != nil {
		return err
	}
	if err := c.SaveSettings(keep); err != nil {
		return err
	}
	stopControl, err := serveControl(c)
	if err != nil {
		log.Warn("stats, explain and urls will have to wait for the end of the crawl", "error", err)
	} else {
		defer stopControl()
	}
	ctx, endSignals := a.onSignals(ctx, c)
	defer endSignals()
	defer s.watch(ctx, c, log)()
	endProgress := show.start(c)
	reason := c.Run(ctx, seeds)
	endProgress()
	a.printSummary(c.Stats(), reason)
	return reason
}

// onSignals stops the crawl on the first interrupt and hurries it on the second.
func (a *app) onSignals(ctx context.Context, c *crawl.Crawl) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-signals:
			case <-done:
				return
			}
			if n == 0 {
				fmt.Fprintf(a.err, "\nstopping: %d fetches in flight have 10 s to end; once more to leave at once\n", c.Stats().URLs.Leased)
				cancel()
			} else {
				c.Hurry()
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}

// watchPeriod is the time between looks at the configuration file.
const watchPeriod = 2 * time.Second

// watch puts changed politeness into force, on SIGHUP and when the configuration file changes, until the returned function
// is called. A faulty file changes nothing.
func (s *settings) watch(ctx context.Context, c *crawl.Crawl, log *slog.Logger) (stop func()) {
	if s.config == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	hangups := make(chan os.Signal, 1)
	notifyHangup(hangups)
	go func() {
		defer signal.Stop(hangups)
		tick := time.NewTicker(watchPeriod)
		defer tick.Stop()
		seen := fileVersion(s.config)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
			case <-tick.C:
				now := fileVersion(s.config)
				if now == seen {
					continue
				}
				seen = now
			}
			s.reloadPoliteness(c, log)
		}
	}()
	return cancel
}

func (s *settings) reloadPoliteness(c *crawl.Crawl, log *slog.Logger) {
	cfg, err := s.reload()
	if err != nil {
		log.Error("the configuration file is refused, the old rules stay in force", "file", s.config, "error", err)
		return
	}
	c.SetPoliteness(cfg.Crawl.Politeness)
	log.Info("politeness reloaded", "file", s.config)
}

// version is what tells one state of a file from another.
type fileState struct {
	size    int64
	changed time.Time
}

func fileVersion(path string) fileState {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{}
	}
	return fileState{info.Size(), info.ModTime()}
}

// readSeeds reads a seeds file, "" for none and "-" for standard input, and reports its bad lines. It fails if the file cannot be read or has no good line.
func (a *app) readSeeds(name string) ([]crawl.Seed, error) {
	if name == "" {
		return nil, nil
	}
	in := a.in
	if name == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return nil, &usageError{fmt.Errorf("--seeds: %w", readable(err))}
		}
		defer f.Close()
		in = f
	}
	in, err := gunzip(in)
	if err != nil {
		return nil, &usageError{fmt.Errorf("--seeds: %s: %w", name, readable(err))}
	}
	seeds, faults, err := crawl.ReadSeeds(name, in)
	for _, f := range faults {
		fmt.Fprintln(a.err, "crawler: skipped:", f)
	}
	if err != nil {
		return nil, &usageError{fmt.Errorf("--seeds: %w", readable(err))}
	}
	if len(seeds) == 0 {
		return nil, &usageError{fmt.Errorf("--seeds: %s has no URL to start from; write one a line", name)}
	}
	return seeds, nil
}

// gunzip returns what r holds, unpacked if it is gzipped, whatever its name.
func gunzip(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	head, err := buffered.Peek(2)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		return gzip.NewReader(buffered)
	}
	return buffered, nil
}
