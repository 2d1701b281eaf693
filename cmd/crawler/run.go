package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"crawler/crawl"
	"crawler/storage"
)

// defaultData is the data directory where none is named.
const defaultData = "./crawl"

func (a *app) runCommand() *cobra.Command {
	var s settings
	var seeds, data, progress string
	cmd := &cobra.Command{
		Use:   "run --seeds FILE",
		Short: "Start a crawl, or go on with it",
		Long: `Start a crawl from the seeds, or go on with the one in the data directory; the
directory alone resumes it, with the settings it was started with.

A seeds file has one URL a line. Lines that begin with # are comments; a line
without a scheme means https, and http should that not answer. The file may be
gzipped; - is standard input.

Every flag but --seeds, --data and --progress can stand in the YAML file too. A
flag wins over the file, the file over the default. A --config given on a resume
drops the flags of earlier runs. Changes of the file's politeness take effect
while the crawl runs.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.crawl(cmd.Context(), &s, seeds, data, progress)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&seeds, "seeds", "", "start from the URLs in `FILE`, one a line; - is standard input")
	flags.StringVar(&data, "data", defaultData, "keep the crawl in `DIR`; alone it resumes")
	s.register(flags)
	flags.StringVar(&progress, "progress", "auto", progressUsage)
	return cmd
}

func (a *app) crawl(ctx context.Context, s *settings, seedsFile, data, progress string) error {
	if err := checkData(data); err != nil {
		return err
	}
	if err := s.recall(data); err != nil {
		return err
	}
	// An interrupt that comes before the crawl is open ends it as cleanly as one that comes later.
	ctx, endEarly := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer endEarly()
	seeds, seedsErr := a.awaitSeeds(ctx, seedsFile)
	if errors.Is(seedsErr, crawl.ErrInterrupted) {
		fmt.Fprintln(a.out, "stopped before the crawl began; the same command starts it")
		return seedsErr
	}
	cfg, loadErr := s.load()
	show, progressErr := a.newProgress(progress)
	if err := errors.Join(seedsErr, loadErr, progressErr); err != nil {
		return err
	}
	s.refresh(cfg)
	if _, err := storage.Describe(data); errors.Is(err, storage.ErrNoCrawl) && len(seeds) == 0 {
		return nothingToCrawl(data)
	}
	cc := crawlConfig(cfg, show)
	c, err := crawl.Open(data, cc)
	if err != nil {
		return err
	}
	return closing(c, a.crawlOpen(ctx, c, s, seeds, show, cc.Log))
}

func nothingToCrawl(data string) error {
	return &usageError{fmt.Errorf("nothing to crawl: %s holds no URL; name a file of URLs with --seeds", data)}
}

// crawlOpen runs an open crawl to its end and prints the summary.
func (a *app) crawlOpen(ctx context.Context, c *crawl.Crawl, s *settings, seeds []crawl.Seed, show *progress, log *slog.Logger) error {
	if len(seeds) == 0 && c.Stats().URLs.Admitted == 0 {
		return nothingToCrawl(c.Path())
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
	ctx, endSignals := s.stopOnSignals(ctx, c, show)
	defer endSignals()
	defer s.watch(c, log)()
	endProgress := show.start(c.Stats)
	reason := c.Run(ctx, seeds)
	endProgress()
	a.printSummary(c.Stats(), c.Path(), reason)
	return reason
}

// stopOnSignals stops the crawl on the first interrupt and hurries it on the second. A hangup is one where there is no
// configuration file to be read again, but under nohup.
func (s *settings) stopOnSignals(ctx context.Context, c *crawl.Crawl, show io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if s.config == "" && !signal.Ignored(syscall.SIGHUP) {
		notifyHangup(signals)
	}
	done := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-signals:
			case <-done:
				return
			}
			if n == 0 {
				fmt.Fprintln(show, stopping(c.Stats().URLs.Leased))
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

// stopping says that the crawl stops, and what it waits for.
func stopping(inFlight int64) string {
	if inFlight == 0 {
		return "stopping"
	}
	return "stopping within 10 s: " + plural(inFlight, "request") + " in flight; interrupt again to leave now"
}

// watchPeriod is the time between looks at the configuration file.
const watchPeriod = time.Second

// watch puts changed politeness into force, on SIGHUP and when the configuration file changes, until the returned function
// is called. A faulty file changes nothing.
func (s *settings) watch(c *crawl.Crawl, log *slog.Logger) (stop func()) {
	if s.config == "" {
		return func() {}
	}
	hangups := make(chan os.Signal, 1)
	notifyHangup(hangups)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer signal.Stop(hangups)
		tick := time.NewTicker(watchPeriod)
		defer tick.Stop()
		inForce, before := s.inForce, s.inForce
		for {
			select {
			case <-done:
				return
			case <-hangups:
			case <-tick.C:
				// A file that is just being written is taken when it is found the same twice.
				text, err := os.ReadFile(s.config)
				settled := string(text) == before
				before = string(text)
				if err != nil || !settled || before == inForce {
					continue
				}
			}
			inForce = s.reloadPoliteness(c, log)
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

// reloadPoliteness reads the configuration file anew, and returns what it found.
func (s *settings) reloadPoliteness(c *crawl.Crawl, log *slog.Logger) (text string) {
	cfg, text, err := s.reload()
	if err != nil {
		log.Error("the configuration file is refused, the old rules stay in force", "error", err)
		return text
	}
	c.SetPoliteness(cfg.Crawl.Politeness)
	log.Info("politeness reloaded", "file", s.config)
	return text
}

// awaitSeeds is readSeeds, given up with crawl.ErrInterrupted when ctx ends: a long file or a terminal may take a while.
func (a *app) awaitSeeds(ctx context.Context, name string) ([]crawl.Seed, error) {
	var seeds []crawl.Seed
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		seeds, err = a.readSeeds(name)
	}()
	select {
	case <-done:
		return seeds, err
	case <-ctx.Done():
		return nil, crawl.ErrInterrupted
	}
}

// readSeeds reads a seeds file, "" for none and "-" for standard input, and reports its bad lines. It fails if the file
// cannot be read or has no good line.
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
	in, err := gunzip(name, in)
	if err != nil {
		return nil, &usageError{fmt.Errorf("--seeds: %w", readable(err))}
	}
	seeds, faults, err := crawl.ReadSeeds(name, in)
	for _, f := range faults {
		fmt.Fprintln(a.err, "crawler: skipped:", f)
	}
	if err != nil {
		return nil, &usageError{fmt.Errorf("--seeds: %w", err)}
	}
	if len(seeds) == 0 {
		return nil, &usageError{fmt.Errorf("--seeds: %s has no URL to start from; write one a line", name)}
	}
	return seeds, nil
}

// gunzip returns what the file holds, unpacked if it is gzipped, whatever its name.
func gunzip(name string, file io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(file)
	head, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return buffered, nil
	}
	unpacked, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("%s: broken gzip: %w", name, err)
	}
	return unpacked, nil
}
