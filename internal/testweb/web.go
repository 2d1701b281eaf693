package testweb

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// maxHosts is how many loopback addresses host numbers map to.
const maxHosts = 250 * 250

// Web is one synthetic web and the record of what was asked of it. Make it
// with [New]. Its methods may be called at any time by any goroutine, except
// that [Web.Start] comes before everything that yields or compares URLs.
type Web struct {
	cfg    Config
	trunk  int    // pages [0, trunk) form the tree, [trunk, Pages) the archive
	span   int    // page numbers of a host, print versions included
	port   string // ":8080" on sockets, "" over pipes
	hosts  []host // one more than there are: the last stands for all names not of the web
	byName map[string]int
	text   corpus
	epoch  time.Time // times in records count from here
	phase  atomic.Uint32
	pipes  *service
}

// host is what is known of one host, and the log of its requests.
type host struct {
	name   string
	robots robots
	delay  time.Duration // Crawl-delay
	slow   float64       // factor on Config.Jitter
	limits bool          // whether it throttles once
	log    hostLog
}

// robots is what a host answers to /robots.txt.
type robots uint8

const (
	robotsServed robots = iota
	robotsMissing
	robotsFailing
	robotsHanging
)

// New returns the web that cfg describes, or every fault of cfg. For use
// within a synctest bubble, call it there.
func New(cfg Config) (*Web, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("testweb: %w", err)
	}
	cfg = cfg.withDefaults()
	w := &Web{
		cfg:    cfg,
		trunk:  cfg.Pages - min(maxArchive, cfg.Pages/8),
		span:   cfg.Pages,
		hosts:  make([]host, cfg.Hosts+1),
		byName: make(map[string]int, cfg.Hosts),
		text:   newCorpus(cfg.Seed),
		epoch:  time.Now(),
	}
	if cfg.Nofollow > 0 {
		w.span = 2 * cfg.Pages
	}
	for h := range cfg.Hosts {
		r := w.rng(h, 0, forHost)
		w.hosts[h] = host{
			name:   fmt.Sprintf("h%03d.test", h),
			delay:  cfg.CrawlDelays[h],
			slow:   math.Exp2(2*r.float() - 1),
			limits: slices.Contains(cfg.Throttled, h),
		}
		if cfg.Addresses {
			w.hosts[h].name = fmt.Sprintf("127.0.%d.%d", 1+h/250, 1+h%250)
		}
		w.byName[w.hosts[h].name] = h
		for kind, hosts := range [][]int{
			robotsMissing: cfg.RobotsMissing, robotsFailing: cfg.RobotsFailing, robotsHanging: cfg.RobotsHanging,
		} {
			if slices.Contains(hosts, h) {
				w.hosts[h].robots = robots(kind)
			}
		}
	}
	w.pipes = newService(w)
	return w, nil
}

// findHost returns the number of the host with a name, which may have a port.
func (w *Web) findHost(name string) (h int, ok bool) {
	name, _, _ = strings.Cut(name, ":")
	h, ok = w.byName[strings.ToLower(name)]
	return h, ok
}

// url returns the URL of page i of host h.
func (w *Web) url(h, i int) string {
	return string(w.appendPath(w.appendOrigin(nil, h), h, i))
}

// appendOrigin appends scheme and authority of host h.
func (w *Web) appendOrigin(dst []byte, h int) []byte {
	return append(append(append(dst, "http://"...), w.hosts[h].name...), w.port...)
}

// Seeds returns the URLs to start from: the front pages of the first hosts.
func (w *Web) Seeds() []string {
	seeds := make([]string, w.cfg.Seeds)
	for h := range seeds {
		seeds[h] = w.url(h, 0)
	}
	return seeds
}

// rng draws a sequence of numbers (splitmix64; Steele, Lea, Flood 2014).
type rng uint64

// Each purpose has its own sequence, so that one knob does not change what
// another one draws.
const (
	forHost = iota
	forKind
	forTarget
	forLinks
	forPrint
	forPath
	forSize
	forBody
	forFault
	forWait
	forText
)

// rng returns the sequence of page i of host h for one purpose.
func (w *Web) rng(h, i int, purpose uint64) rng {
	r := rng(w.cfg.Seed ^ purpose<<56)
	r = rng(r.next() + uint64(h))
	r = rng(r.next() + uint64(i))
	return r
}

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// n draws a number below limit.
func (r *rng) n(limit int) int {
	hi, _ := bits.Mul64(r.next(), uint64(limit))
	return int(hi)
}

// float draws a number within [0, 1).
func (r *rng) float() float64 { return float64(r.next()>>11) / (1 << 53) }

// logNormal draws a number with the given median (Box and Muller 1958).
func (r *rng) logNormal(median, sigma float64) float64 {
	u, v := 1-r.float(), r.float()
	return median * math.Exp(sigma*math.Sqrt(-2*math.Log(u))*math.Cos(2*math.Pi*v))
}
