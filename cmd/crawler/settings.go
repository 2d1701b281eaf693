package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"crawler/configs"
	"crawler/crawl"
	"crawler/storage"
)

// settings are the flags that say what a crawl is, and the configuration file. They are kept in the data directory, so
// that the directory alone resumes the crawl; what is given again wins.
type settings struct {
	flags *pflag.FlagSet

	config      string
	scope       string
	depth       int
	maxPages    int
	maxTime     time.Duration
	include     []string
	exclude     []string
	concurrency int
	delay       time.Duration
	perHost     int
	userAgent   string
	header      []string
	robots      string
	allowNet    []string
	resolver    string
	resolve     []string
	proxy       string
	archive     string
	http        string
	nats        string
	node        string
	logLevel    string
	logFormat   string

	text string // of the configuration file
}

// kept names the flags that hold until they are given again. The others are for one run.
var kept = []string{
	"scope", "depth", "include", "exclude", "delay", "per-host", "user-agent", "header", "robots",
	"allow-net", "resolver", "resolve", "proxy",
}

func (s *settings) register(flags *pflag.FlagSet) {
	s.flags = flags
	flags.StringVar(&s.config, "config", "", "configuration `FILE` (YAML); see crawler config default")
	flags.StringVar(&s.scope, "scope", "host", "page, prefix, host, domain or any: how far from a seed a URL may lie")
	flags.IntVar(&s.depth, "depth", -1, "links from a seed; -1 is no limit")
	flags.IntVar(&s.maxPages, "max-pages", 0, "stop after `N` pages, exactly, over all runs; 0 is no limit")
	flags.DurationVar(&s.maxTime, "max-time", 0, "stop after this time; 0 is no limit")
	flags.StringArrayVar(&s.include, "include", nil, "crawl only URLs that match this `RE`, besides the seeds (repeatable)")
	flags.StringArrayVar(&s.exclude, "exclude", nil, "do not crawl URLs that match this `RE` (repeatable)")
	flags.IntVar(&s.concurrency, "concurrency", 64, "fetches in flight in all")
	flags.DurationVar(&s.delay, "delay", time.Second, "time from the end of a request to a host to the next one")
	flags.IntVar(&s.perHost, "per-host", 1, "connections to one host")
	flags.StringVar(&s.userAgent, "user-agent", defaultUserAgent(), "name the crawler gives itself; add where you can be reached")
	flags.StringArrayVar(&s.header, "header", nil, "`'K: V'`, sent with every request (repeatable)")
	flags.StringVar(&s.robots, "robots", "obey", "obey or ignore robots.txt")
	flags.StringArrayVar(&s.allowNet, "allow-net", nil, "`CIDR` of private, loopback or link-local addresses that may be fetched (repeatable)")
	flags.StringVar(&s.resolver, "resolver", "", "`IP:PORT` of the DNS server to ask (default the system's)")
	flags.StringArrayVar(&s.resolve, "resolve", nil, "`HOST=IP`, a fixed answer instead of DNS (repeatable)")
	flags.StringVar(&s.proxy, "proxy", "", "`URL` of an http, https or socks5 proxy (default from the environment)")
	flags.StringVar(&s.archive, "archive", "off", "WARC output, on or off; this version has none")
	flags.StringVar(&s.http, "http", "", "`ADDR` of the dashboard; this version has none")
	flags.StringVar(&s.nats, "nats", "", "`URL` of the cluster to join; this version has none")
	flags.StringVar(&s.node, "node", "", "`NAME` of this node in the cluster")
	flags.StringVar(&s.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&s.logFormat, "log-format", "text", "text or json")
}

// defaultUserAgent names the program. Only its user can say who is to be reached.
func defaultUserAgent() string { return "crawler/" + version }

// saved is the form in which settings are kept.
type saved struct {
	ConfigPath string              `json:"config_path,omitempty"`
	ConfigText string              `json:"config_text,omitempty"`
	Flags      map[string][]string `json:"flags,omitempty"`
}

// recall takes over what was kept in the data directory, where it is not given again.
func (s *settings) recall(data string) error {
	desc, err := storage.Describe(data)
	if errors.Is(err, storage.ErrNoCrawl) || err == nil && len(desc.Settings) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	var old saved
	if err := json.Unmarshal(desc.Settings, &old); err != nil {
		return fmt.Errorf("%s: %w: settings: %w", data, storage.ErrDamaged, err)
	}
	for name, values := range old.Flags {
		flag := s.flags.Lookup(name)
		if flag == nil || flag.Changed {
			continue
		}
		for _, v := range values {
			if err := s.flags.Set(name, v); err != nil {
				return fmt.Errorf("%s: %w: settings: --%s: %w", data, storage.ErrDamaged, name, err)
			}
		}
	}
	if !s.flags.Changed("config") && old.ConfigText != "" {
		s.config, s.text = old.ConfigPath, old.ConfigText
	}
	return nil
}

// keep returns what a resume needs.
func (s *settings) keep() (json.RawMessage, error) {
	now := saved{ConfigPath: s.config, ConfigText: s.text, Flags: map[string][]string{}}
	s.flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(kept, f.Name) {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			now.Flags[f.Name] = list.GetSlice()
		} else {
			now.Flags[f.Name] = []string{f.Value.String()}
		}
	})
	return json.Marshal(now)
}

// load reads the configuration file, if there is one, and lays the flags over it. It reports all faults at once.
func (s *settings) load() (*configs.Config, error) {
	if s.flags.Changed("config") {
		text, err := os.ReadFile(s.config)
		if err != nil {
			return nil, &usageError{fmt.Errorf("--config: %w", readable(err))}
		}
		s.text = string(text)
	}
	return s.parse([]byte(s.text))
}

// reload reads the configuration file anew.
func (s *settings) reload() (*configs.Config, error) {
	text, err := os.ReadFile(s.config)
	if err != nil {
		return nil, readable(err)
	}
	return s.parse(text)
}

func (s *settings) parse(text []byte) (*configs.Config, error) {
	var faults []error
	cfg, err := configs.Parse(s.config, text, func(c *configs.Config) { faults = s.apply(c) })
	if err = errors.Join(err, errors.Join(faults...)); err != nil {
		return nil, &usageError{err}
	}
	if cfg.Crawl.Fetch.UserAgent == "" {
		cfg.Crawl.Fetch.UserAgent = s.userAgent
	}
	return cfg, nil
}

// apply lays the flags that were given over c.
func (s *settings) apply(c *configs.Config) (faults []error) {
	fault := func(flag string, err error) { faults = append(faults, fmt.Errorf("--%s: %w", flag, err)) }
	given := s.flags.Changed
	cc := &c.Crawl
	if given("scope") {
		cc.Scope.Reach = crawl.Reach(s.scope)
		if !slices.Contains(crawl.Reaches(), cc.Scope.Reach) {
			fault("scope", fmt.Errorf("%q is none of page, prefix, host, domain and any", s.scope))
		}
	}
	if given("depth") {
		cc.Scope.MaxDepth = &s.depth
	}
	for _, p := range []struct {
		flag string
		from []string
		to   *[]*regexp.Regexp
	}{{"include", s.include, &cc.Scope.Include}, {"exclude", s.exclude, &cc.Scope.Exclude}} {
		if !given(p.flag) {
			continue
		}
		*p.to = nil
		for _, text := range p.from {
			re, err := regexp.Compile(text)
			if err != nil {
				fault(p.flag, fmt.Errorf("%q: %w", text, err))
				continue
			}
			*p.to = append(*p.to, re)
		}
	}
	setNumber := func(flag string, value, least int, to *int) {
		if !given(flag) {
			return
		}
		if *to = value; value < least {
			fault(flag, fmt.Errorf("%d is less than %d", value, least))
		}
	}
	setNumber("max-pages", s.maxPages, 0, &cc.Limits.MaxPages)
	setNumber("concurrency", s.concurrency, 1, &cc.Concurrency)
	setNumber("per-host", s.perHost, 1, &cc.Politeness.Default.Connections)
	for _, d := range []struct {
		flag string
		from time.Duration
		to   *time.Duration
	}{{"max-time", s.maxTime, &cc.Limits.MaxTime}, {"delay", s.delay, &cc.Politeness.Default.Delay}} {
		if !given(d.flag) {
			continue
		}
		if *d.to = d.from; d.from < 0 {
			fault(d.flag, fmt.Errorf("%v is negative", d.from))
		}
	}
	s.applyFetch(c, given, fault)
	s.applyRest(c, given, fault)
	return faults
}

// applyFetch lays the flags over c that say how pages are fetched.
func (s *settings) applyFetch(c *configs.Config, given func(string) bool, fault func(string, error)) {
	f := &c.Crawl.Fetch
	if given("user-agent") {
		f.UserAgent = s.userAgent
	}
	for _, line := range s.header {
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) == "" {
			fault("header", fmt.Errorf("%q is not of the form 'Name: value'", line))
			continue
		}
		if f.Header == nil {
			f.Header = map[string][]string{}
		}
		f.Header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	if given("allow-net") {
		f.Allow = nil
		for _, text := range s.allowNet {
			network, err := configs.ParseNetwork(text)
			if err != nil {
				fault("allow-net", err)
				continue
			}
			f.Allow = append(f.Allow, network)
		}
	}
	if given("resolver") {
		f.Resolver = s.resolver
	}
	for _, text := range s.resolve {
		host, ip, ok := strings.Cut(text, "=")
		addr, err := netip.ParseAddr(ip)
		if !ok || host == "" || err != nil {
			fault("resolve", fmt.Errorf("%q is not of the form HOST=IP", text))
			continue
		}
		if f.Resolve == nil {
			f.Resolve = map[string]netip.Addr{}
		}
		f.Resolve[strings.ToLower(host)] = addr
	}
	if given("proxy") {
		f.Proxy = s.proxy
	}
}

// applyRest lays the remaining flags over c.
func (s *settings) applyRest(c *configs.Config, given func(string) bool, fault func(string, error)) {
	switch s.robots {
	case "obey", "ignore":
		if given("robots") {
			c.Crawl.Politeness.Default.ObeyRobots = s.robots == "obey"
		}
	default:
		fault("robots", fmt.Errorf("%q is neither obey nor ignore", s.robots))
	}
	if given("log-level") {
		if err := c.Log.Level.UnmarshalText([]byte(s.logLevel)); err != nil {
			fault("log-level", fmt.Errorf("%q is none of debug, info, warn and error", s.logLevel))
		}
	}
	if given("log-format") {
		if c.Log.Format = s.logFormat; s.logFormat != "text" && s.logFormat != "json" {
			fault("log-format", fmt.Errorf("%q is neither text nor json", s.logFormat))
		}
	}
	if s.archive != "off" {
		fault("archive", errors.New("this version writes no WARC files; leave it off"))
	}
	for flag, value := range map[string]string{"http": s.http, "nats": s.nats, "node": s.node} {
		if value != "" {
			fault(flag, errors.New("this version has no dashboard and no cluster; leave it out"))
		}
	}
}

// readable says of a path that cannot be read what a person would say.
func readable(err error) error {
	var perr *fs.PathError
	if !errors.As(err, &perr) {
		return err
	}
	if info, statErr := os.Stat(perr.Path); statErr == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory, not a file", perr.Path)
	}
	return fmt.Errorf("%s: %w", perr.Path, perr.Err)
}

// crawlConfig returns what the crawl needs of the configuration, with its log.
func (a *app) crawlConfig(c *configs.Config) crawl.Config {
	options := &slog.HandlerOptions{Level: c.Log.Level}
	var handler slog.Handler = slog.NewTextHandler(a.err, options)
	if c.Log.Format == "json" {
		handler = slog.NewJSONHandler(a.err, options)
	}
	cfg := c.Crawl
	cfg.Log = slog.New(handler)
	return cfg
}
