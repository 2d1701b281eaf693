package main

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/url"

	"github.com/spf13/pflag"

	"crawler/crawl"
	"crawler/seen"
)

// source answers questions about a crawl, from the crawl itself while it runs and from its data directory otherwise.
type source interface {
	Stats() (crawl.Stats, error)
	Explain(text string) (*crawl.Explanation, error)
	URLs(state string) iter.Seq2[crawl.Entry, error]
	FalsePositives() ([]seen.FalsePositive, error)
	Close() error
}

// openSource returns the source for a data directory.
func (a *app) openSource(ctx context.Context, data string) (source, error) {
	asker, err := dialControl(data)
	if err == nil {
		return &remote{ctx, asker}, nil
	}
	if err := checkData(data); err != nil {
		return nil, err
	}
	var s settings
	s.register(pflag.NewFlagSet("settings", pflag.ContinueOnError))
	if err := s.recall(data); err != nil {
		return nil, err
	}
	cfg, err := s.load()
	if err != nil {
		return nil, err
	}
	return crawl.OpenView(data, cfg.Crawl)
}

// remote is a crawl that runs in another process. It lives for one command.
type remote struct {
	ctx   context.Context //nolint:containedctx // the command's own
	asker *asker
}

func (r *remote) ask(path string, query url.Values, v any) error {
	return r.asker.get(r.ctx, path, query, func(d *json.Decoder) error { return d.Decode(v) })
}

func (r *remote) Stats() (s crawl.Stats, err error) {
	err = r.ask("/stats", nil, &s)
	return s, err
}

func (r *remote) Explain(text string) (*crawl.Explanation, error) {
	e := new(crawl.Explanation)
	return e, r.ask("/explain", url.Values{"url": {text}}, e)
}

func (r *remote) FalsePositives() (list []seen.FalsePositive, err error) {
	err = r.ask("/false-positives", nil, &list)
	return list, err
}

func (r *remote) URLs(state string) iter.Seq2[crawl.Entry, error] {
	return func(yield func(crawl.Entry, error) bool) {
		err := r.asker.get(r.ctx, "/urls", url.Values{"state": {state}}, func(d *json.Decoder) error {
			for {
				var line urlsLine
				if err := d.Decode(&line); err != nil {
					return errors.New("the list broke off: the crawl has ended; ask again")
				}
				switch {
				case line.Error != "":
					return errors.New(line.Error)
				case line.End || line.Entry == nil || !yield(*line.Entry, nil):
					return nil
				}
			}
		})
		if err != nil {
			yield(crawl.Entry{}, err)
		}
	}
}

func (r *remote) Close() error { return nil }
