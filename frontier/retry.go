package frontier

import (
	"math/rand/v2"
	"time"
)

// Retry says how often and how far apart a failed fetch is tried again. The zero value works.
type Retry struct {
	// Tries is the number of fetches of one URL before it is given up. Default 4.
	Tries int
	// Delay is the wait before the second try; each further wait is four times as long. It is also the first pause of
	// a host that fails; each further pause is twice as long. Default 5 s.
	Delay time.Duration
}

func (r Retry) withDefaults() Retry {
	if r.Tries == 0 {
		r.Tries = 4
	}
	if r.Delay == 0 {
		r.Delay = 5 * time.Second
	}
	return r
}

const (
	// maxDoublings keeps exponential waits from overflowing.
	maxDoublings = 10
	// maxBackoff bounds the pause of a failing host.
	maxBackoff = time.Hour
	// jitter is the share of a pause that is random, so that hosts which failed together do not come back together.
	jitter = 0.25
)

// wait returns the time from the end of the given try of a URL to the next.
func (r Retry) wait(try int) time.Duration {
	return r.Delay << min(2*(try-1), maxDoublings)
}

// backoff returns the pause of a host after the given number of failures in a row: twice as long each time, and up to a
// quarter longer by chance.
func (f *Frontier) backoff(fails int) time.Duration {
	pause := min(f.retry.Delay<<min(fails-1, maxDoublings), maxBackoff)
	return pause + time.Duration(jitter*f.random()*float64(pause))
}

func defaultRandom() float64 { return rand.Float64() }
