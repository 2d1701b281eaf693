// Package configs is the one YAML schema of the crawler.
//
// A table of keys (table.go) is the only place that knows what a file may hold: from it come the reading of files,
// the commented default file, the JSON schema for editors and the suggestions for misspelt keys. A file is read
// strictly: whatever is not in the table, and every value that is not of its key's type or out of its range, is a Fault
// with its position, and all faults of a file are reported at once. A Config that Parse returns is complete: what the
// file leaves open has its default, and what a domain leaves open that of politeness.default.
//
// The package reads files and nothing else: flags and environment are the business of the command, which may change
// what a file says through the override arguments of Load and Parse.
package configs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"

	"crawler/crawl"
	"crawler/fetcher"
	"crawler/frontier"
	"crawler/seen"
)

// Config is what a configuration file says.
type Config struct {
	// Crawl is all that the crawl itself needs, but for Crawl.Log, which is nil, and Crawl.Fetch.UserAgent, which is
	// empty unless the file sets it.
	Crawl crawl.Config
	// Log says what is logged, and how.
	Log Log
}

// Log says what is logged, and how.
type Log struct {
	// Level is the least level that is logged. Default info.
	Level slog.Level
	// Format is "text" or "json". Default text.
	Format string
}

// Default returns the configuration of an empty file.
func Default() Config {
	return Config{
		Crawl: crawl.Config{
			Scope:       crawl.Scope{Reach: crawl.ReachHost},
			Limits:      crawl.Limits{MinFreeDisk: 1 << 30},
			Concurrency: 64,
			Retry:       frontier.Retry{Tries: 4, Delay: 5 * time.Second},
			Politeness:  frontier.Rules{Default: frontier.DefaultPoliteness()},
			Seen:        seen.Config{TargetFPR: 0.01, Headroom: 1.5, RebuildAt: 2},
			Fetch:       fetcher.Config{Timeout: 30 * time.Second, MaxBody: 10 << 20},
		},
		Log: Log{Level: slog.LevelInfo, Format: "text"},
	}
}

// Load reads the file at path as Parse does. An error of reading it is that of os.ReadFile.
func Load(path string, override ...func(*Config)) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text, override...)
}

// Parse reads the text of a configuration file; name stands for it in faults. The error joins all the faults of the
// file, each a *Fault, in the order of their positions. The override functions are applied after the file's values and
// before its domains are completed, so that a changed politeness default reaches the domains that leave the value open.
func Parse(name string, text []byte, override ...func(*Config)) (*Config, error) {
	r := &reader{file: name}
	c := Default()
	if root := r.document(text); root != nil {
		readMapping(r, "", root, &c, keys())
	}
	for _, change := range override {
		change(&c)
	}
	for _, complete := range r.deferred {
		complete()
	}
	if len(r.faults) > 0 {
		return nil, r.joined()
	}
	return &c, nil
}

// reader collects the faults of one file.
type reader struct {
	file     string
	faults   []*Fault
	deferred []func() // reads what depends on other keys of the file
}

// fault records what is wrong at a node.
func (r *reader) fault(n *yaml.Node, key, problem, remedy string) {
	r.faults = append(r.faults, &Fault{r.file, max(n.Line, 1), max(n.Column, 1), key, problem, remedy})
}

// joined returns the faults in the order of their positions.
func (r *reader) joined() error {
	slices.SortStableFunc(r.faults, func(a, b *Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	errs := make([]error, len(r.faults))
	for i, f := range r.faults {
		errs[i] = f
	}
	return errors.Join(errs...)
}

// document returns the content of the text's only document, nil if there is none or it is faulty.
func (r *reader) document(text []byte) *yaml.Node {
	if f := unreadable(text); f != nil {
		f.File = r.file
		r.faults = append(r.faults, f)
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		r.fault(&yaml.Node{}, "", err.Error(), "")
		return nil
	}
	var first, second yaml.Node
	if err := loader.Load(&first); err != nil {
		if !errors.Is(err, io.EOF) {
			r.syntax(text, err)
		}
		return nil
	}
	if err := loader.Load(&second); err == nil {
		r.fault(&second, "", "a second document begins here", "keep one document in the file")
	} else if !errors.Is(err, io.EOF) {
		r.syntax(text, err)
	}
	root := first.Content[0]
	if isNull(root) {
		return nil
	}
	return root
}

// enter says whether a node can be read at all; if not, it has recorded why.
func (r *reader) enter(n *yaml.Node, path string) bool {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		r.fault(n, path, "anchors and aliases are not supported", "write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		r.fault(n, path, fmt.Sprintf("the tag %s is not supported", n.ShortTag()), "remove it")
	default:
		return true
	}
	return false
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
