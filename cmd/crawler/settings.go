package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"crawler/configs"
	"crawler/crawl"
	"crawler/fetcher"
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

	text    string // of the configuration file
	inForce string // the text of the file whose politeness is in force
}

// kept names the flags that hold until they are given again. The others are for one run.
var kept = []string{
	"scope", "depth", "include", "exclude", "delay", "per-host", "user-agent", "header", "robots",
	"allow-net", "resolver", "resolve", "proxy",
}

// registerOnly registers the named flags alone, for a command to which the others mean nothing.
func (s *settings) registerOnly(flags *pflag.FlagSet, names ...string) {
	s.register(pflag.NewFlagSet("settings", pflag.ContinueOnError))
	for _, name := range names {
		flags.AddFlag(s.flags.Lookup(name))
	}
}

func (s *settings) register(flags *pflag.FlagSet) {
	s.flags = flags
	flags.StringVar(&s.config, "config", "", "configuration `FILE` (YAML); see crawler config default")
	flags.StringVar(&s.scope, "scope", "host", "take URLs within `S` of a seed: page, prefix, host, domain or any")
	flags.IntVar(&s.depth, "depth", -1, "follow at most `N` links from a seed; -1 is no limit")
	flags.IntVar(&s.maxPages, "max-pages", 0, "stop after `N` pages, exactly, over all runs; 0 is no limit")
	flags.DurationVar(&s.maxTime, "max-time", 0, "stop after the time `D`; 0 is no limit")
	flags.StringArrayVar(&s.include, "include", nil, "besides the seeds crawl only URLs that match `RE` (repeatable)")
	flags.StringArrayVar(&s.exclude, "exclude", nil, "do not crawl URLs that match `RE` (repeatable)")
	flags.IntVar(&s.concurrency, "concurrency", 64, "fetch at most `N` pages at once")
	flags.DurationVar(&s.delay, "delay", time.Second, "wait `D` after a request to a host before the next one")
	flags.IntVar(&s.perHost, "per-host", 1, "make at most `N` connections to one host")
	flags.StringVar(&s.userAgent, "user-agent", defaultUserAgent(), "name `S` the crawler gives itself; say where you can be reached")
	flags.StringArrayVar(&s.header, "header", nil, "header field `'K: V'` sent with every request (repeatable)")
	flags.StringVar(&s.robots, "robots", "obey", "treat robots.txt as `S`: obey or ignore")
	flags.StringArrayVar(&s.allowNet, "allow-net", nil, "let private, loopback or link-local addresses of `CIDR` be fetched (repeatable)")
	flags.StringVar(&s.resolver, "resolver", "", "ask the DNS server at `IP:PORT` (default the system's)")
	flags.StringArrayVar(&s.resolve, "resolve", nil, "fixed answer `HOST=IP` instead of DNS (repeatable)")
	flags.StringVar(&s.proxy, "proxy", "", "`URL` of an http, https or socks5 proxy (default from the environment)")
	flags.StringVar(&s.archive, "archive", "off", "WARC output `S`, on or off; this version has none")
	flags.StringVar(&s.http, "http", "", "`ADDR` of the dashboard; this version has none")
	flags.StringVar(&s.nats, "nats", "", "`URL` of the cluster to join; this version has none")
	flags.StringVar(&s.node, "node", "", "`NAME` of this node in the cluster")
	flags.StringVar(&s.logLevel, "log-level", "info", "log from the level `S` on: debug, info, warn or error")
	flags.StringVar(&s.logFormat, "log-format", "text", "write the log as `S`: text or json")
}

// defaultUserAgent names the program. Only its user can say who is to be reached.
func defaultUserAgent() string { return "crawler/" + version }

// saved is the form in which settings are kept.
type saved struct {
	ConfigPath string              `json:"config_path,omitempty"`
	ConfigText string              `json:"config_text,omitempty"`
	Flags      map[string][]string `json:"flags,omitempty"`
}

// checkData reports a data path that is no directory.
func checkData(data string) error {
	info, err := os.Stat(data)
	if errors.Is(err, syscall.ENOTDIR) || err == nil && !info.IsDir() {
		return &usageError{fmt.Errorf("--data: %s is not a directory; name one, or a path where there is nothing yet", data)}
	}
	return nil
}

// recall takes over what was kept in the data directory, where it is not given again; nothing if there is a new
// configuration file, which a flag of an earlier run must not overrule. It says nothing of a directory that cannot be read:
// opening it does.
func (s *settings) recall(data string) error {
	desc, err := storage.Describe(data)
	if err != nil || len(desc.Settings) == 0 {
		return nil //nolint:nilerr // see above
	}
	damaged := func(err error) error {
		return fmt.Errorf("%s: %w: settings: %w; restore a copy of it, or start again with another --data", data, storage.ErrDamaged, err)
	}
	var old saved
	if err := json.Unmarshal(desc.Settings, &old); err != nil {
		return damaged(err)
	}
	if s.flags.Changed("config") {
		return nil
	}
	for name, values := range old.Flags {
		flag := s.flags.Lookup(name)
		if flag == nil || flag.Changed { // of another version, or given again
			continue
		}
		for _, v := range values {
			if err := s.flags.Set(name, v); err != nil {
				return damaged(err)
			}
		}
	}
	s.config, s.text = old.ConfigPath, old.ConfigText
	return nil
}

// keep returns what a resume needs.
func (s *settings) keep() (json.RawMessage, error) {
	now := saved{ConfigText: s.text, Flags: map[string][]string{}}
	if s.config != "" {
		path, err := filepath.Abs(s.config)
		if err != nil {
			return nil, err
		}
		now.ConfigPath = path
	}
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

// refresh has cfg take its politeness from the configuration file as it stands, which may have changed since its text was
// kept. A faulty file changes nothing, nor does one that is gone.
func (s *settings) refresh(cfg *configs.Config) {
	s.inForce = s.text
	if s.config == "" || s.flags.Changed("config") {
		return
	}
	if latest, text, err := s.reload(); err == nil {
		cfg.Crawl.Politeness, s.inForce = latest.Crawl.Politeness, text
	}
}

// reload reads the configuration file anew, and returns its text too.
func (s *settings) reload() (_ *configs.Config, text string, err error) {
	file, err := os.ReadFile(s.config)
	if err != nil {
		return nil, "", readable(err)
	}
	cfg, err := s.parse(file)
	return cfg, string(file), err
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
				fault(p.flag, fmt.Errorf("%q is not a regular expression (RE2): %s", text, strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
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
			fault(flag, fmt.Errorf("%d is too small; write %d or more", value, least))
		}
	}
	if given("concurrency") {
		if cc.Concurrency = s.concurrency; s.concurrency < 1 || s.concurrency > configs.MaxConcurrency {
			fault("concurrency", fmt.Errorf("%d is out of range; write 1 to %d", s.concurrency, configs.MaxConcurrency))
		}
	}
	if given("depth") {
		cc.Scope.MaxDepth = new(int)
		setNumber("depth", s.depth, -1, cc.Scope.MaxDepth)
	}
	setNumber("max-pages", s.maxPages, 0, &cc.Limits.MaxPages)
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
			fault(d.flag, fmt.Errorf("%v is negative; write 0s or more", d.from))
		}
	}
	s.applyFetch(c, given, fault)
	s.applyRest(c, given, fault)
	return faults
}

// applyFetch lays the flags over c that say how pages are fetched.
func (s *settings) applyFetch(c *configs.Config, given func(string) bool, fault func(string, error)) {
	f := &c.Crawl.Fetch
	// check has the fetcher judge one value.
	check := func(flag, value, problem string, alone fetcher.Config) {
		if given(flag) && alone.Validate() != nil {
			fault(flag, fmt.Errorf("%q %s", value, problem))
		}
	}
	if given("user-agent") {
		f.UserAgent = s.userAgent
	}
	check("user-agent", s.userAgent, "cannot be sent; keep it to one line of visible characters", fetcher.Config{UserAgent: s.userAgent})
	for _, line := range s.header {
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok {
			name = "" // which is no name
		}
		check("header", line, "cannot be sent; write one such as 'Accept-Language: en'", fetcher.Config{Header: http.Header{name: {value}}})
		if f.Header == nil {
			f.Header = http.Header{}
		}
		f.Header.Set(name, value)
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
	check("resolver", s.resolver, "is not the address of a DNS server; write one such as 9.9.9.9:53", fetcher.Config{Resolver: s.resolver})
	for _, text := range s.resolve {
		host, ip, ok := strings.Cut(text, "=")
		addr, err := netip.ParseAddr(ip)
		if !ok || host == "" || err != nil {
			fault("resolve", fmt.Errorf("%q is not of the form HOST=IP; write one such as www.example.org=192.0.2.1", text))
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
	check("proxy", s.proxy, "is not the URL of a proxy; write http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT", fetcher.Config{Proxy: s.proxy})
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
	for _, absent := range []struct{ flag, value string }{{"http", s.http}, {"nats", s.nats}, {"node", s.node}} {
		if absent.value != "" {
			fault(absent.flag, errors.New("this version has no dashboard and no cluster; leave it out"))
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

// crawlConfig returns what the crawl needs of the configuration, with its log, which is written to w.
func crawlConfig(c *configs.Config, w io.Writer) crawl.Config {
	options := &slog.HandlerOptions{Level: c.Log.Level}
	var handler slog.Handler = slog.NewTextHandler(w, options)
	if c.Log.Format == "json" {
		handler = slog.NewJSONHandler(w, options)
	}
	cfg := c.Crawl
	cfg.Log = slog.New(handler)
	return cfg
}
