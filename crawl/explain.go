package crawl

import (
	"fmt"
	"strings"
	"time"

	"crawler/fetcher/robots"
	"crawler/frontier"
	"crawler/normalize"
	"crawler/storage"
)

// Explanation is every decision about one URL.
type Explanation struct {
	Input     string     `json:"input"`
	URL       string     `json:"url,omitempty"`
	Key       string     `json:"key,omitempty"`
	Decisions []Decision `json:"decisions"`
	// Path leads from a seed to the URL: each page and the one it was first met on.
	Path []Step `json:"path,omitempty"`
}

// Decision is what one part of the crawler says of a URL.
type Decision struct {
	By      string `json:"by"`      // normalize, scope, depth, robots, seen, state or host
	Verdict string `json:"verdict"` // in a word or two
	Reason  string `json:"reason"`  // in words
}

// Step is one page on the way from a seed.
type Step struct {
	URL   string `json:"url"`
	Depth int    `json:"depth"`
}

func (e *Explanation) say(by, verdict, format string, args ...any) {
	e.Decisions = append(e.Decisions, Decision{By: by, Verdict: verdict, Reason: fmt.Sprintf(format, args...)})
}

// Explain says what the crawl makes of a URL and what has become of it. Its error is that of reading the data directory; a
// text that is no URL is explained.
func (v *View) Explain(text string) (*Explanation, error) {
	e := &Explanation{Input: text}
	seed, err := ParseSeed(text)
	if err != nil {
		e.say("normalize", "invalid", "%v", err)
		return e, v.explainRaw(e, text)
	}
	u := seed.URL
	ref, record, admitted, err := v.find(u)
	if seed.Fallback && !admitted && err == nil { // as written in a seeds file: whichever form was met
		if plain, parseErr := normalize.Parse("http" + strings.TrimPrefix(u.String(), "https")); parseErr == nil {
			plainRef, plainRecord, ok, plainErr := v.find(plain)
			if ok {
				u, ref, record, admitted, err = plain, plainRef, plainRecord, ok, plainErr
			}
		}
	}
	if err != nil {
		return nil, err
	}
	e.URL, e.Key = u.String(), string(u.Key())
	v.explainForm(e, u)
	if refusal := v.scope.refuse(u); refusal.Reason != "" {
		e.say("scope", "out of scope", "%s: %s", refusal.Reason, refusal.Detail)
	} else {
		e.say("scope", "in scope", "%s", v.within(u))
	}
	if err := v.explainRobots(e, u); err != nil {
		return nil, err
	}
	if err := v.explainSeen(e, u, ref, admitted); err != nil {
		return nil, err
	}
	if admitted {
		err = v.explainRecord(e, ref, record)
	} else {
		err = v.explainRefusal(e, ref.Partition, string(u.Key()))
	}
	if err != nil {
		return nil, err
	}
	return e, v.explainHost(e, u.Host())
}

func (v *View) explainForm(e *Explanation, u normalize.URL) {
	var notes []string
	if u.String() != e.Input {
		notes = append(notes, "fetched as "+u.String())
	}
	if e.Key != u.String() {
		notes = append(notes, "known as "+e.Key)
	}
	if u.DroppedUserinfo() {
		notes = append(notes, "its user name and password are dropped")
	}
	if notes == nil {
		notes = append(notes, "it is in its canonical form")
	}
	e.say("normalize", "valid", "%s", strings.Join(notes, "; "))
}

func (v *View) within(u normalize.URL) string {
	if v.scope.isAnchor(u) {
		return "a seed, or what a seed redirects to"
	}
	return fmt.Sprintf("within scope %s of a seed", v.scope.scope.Reach)
}

func (v *View) explainRobots(e *Explanation, u normalize.URL) error {
	if !v.politeness.For(u.Host()).ObeyRobots {
		e.say("robots", "ignored", "the configuration says so for %s", u.Host())
		return nil
	}
	var stored storage.Robots
	var ok bool
	err := v.dir.Stores()[v.partitionOf(u.Host())].View(func(tx *storage.Tx) (err error) {
		stored, ok, err = tx.Robots(u.Origin())
		return err
	})
	if err != nil {
		return err
	}
	switch access := robots.Access(stored.Access); {
	case !ok:
		e.say("robots", "unknown", "%s/robots.txt has not been asked for", u.Origin())
	case access == robots.AccessUnreachable:
		e.say("robots", "unreachable", "%s/robots.txt: %s, asked for %s", u.Origin(), robotsAnswer(stored), stamp(stored.Fetched))
	case access == robots.AccessAll:
		e.say("robots", "allowed", "%s/robots.txt: %s, which allows all", u.Origin(), robotsAnswer(stored))
	default:
		verdict := robots.Parse(stored.Body).Group(v.agent).Check(u.RequestURI())
		switch {
		case verdict.Line == 0:
			e.say("robots", "allowed", "no rule of %s/robots.txt for %s matches", u.Origin(), v.agent)
		case verdict.Allowed:
			e.say("robots", "allowed", "%s", robotsDetail(verdict))
		default:
			e.say("robots", "disallowed", "%s", robotsDetail(verdict))
		}
	}
	return nil
}

func robotsAnswer(r storage.Robots) string {
	if r.Status == 0 {
		return r.Kind + ": " + r.Detail
	}
	return fmt.Sprintf("status %d", r.Status)
}

func (v *View) explainSeen(e *Explanation, u normalize.URL, ref storage.Ref, admitted bool) error {
	exact := "the exact store does not hold it"
	verdict := "new"
	if admitted {
		exact, verdict = fmt.Sprintf("the exact store holds it as URL %d of partition %d", ref.ID, ref.Partition), "seen"
	}
	if v.live == nil {
		e.say("seen", verdict, "%s", exact)
		return nil
	}
	p := v.live.parts[ref.Partition]
	return p.store.View(func(tx *storage.Tx) error {
		answer := p.gate.Check(tx, u.Key())
		filter := "says no"
		if answer.Positive {
			filter = "says possibly seen"
		}
		e.say("seen", verdict, "the filter (generation %d) %s; %s", answer.Generation, filter, exact)
		return nil
	})
}

func (v *View) explainRecord(e *Explanation, ref storage.Ref, r storage.Record) error {
	state := r.State.String()
	if r.State == storage.Queued && v.leases(ref.Partition)[ref.ID] {
		state = "leased"
	}
	var notes []string
	switch {
	case r.State == storage.Queued && !r.Due.IsZero():
		notes = append(notes, fmt.Sprintf("try %d after %s", r.Tries+1, stamp(r.Due)))
	case r.State == storage.Queued && state == "queued":
		notes = append(notes, "waits for its turn")
	case r.Status != 0:
		notes = append(notes, fmt.Sprintf("status %d, %d bytes of %s, %s", r.Status, r.Bytes, orNone(r.MediaType), stamp(r.Fetched)))
	}
	if r.Reason != "" {
		notes = append(notes, r.Reason+": "+r.Detail)
	}
	if notes == nil {
		notes = append(notes, "being fetched")
	}
	e.say("state", state, "%s", strings.Join(notes, "; "))
	e.say("depth", fmt.Sprint(r.Depth), "links from a seed, the least over all paths met")
	return v.explainPath(e, ref, r)
}

func orNone(mediaType string) string {
	if mediaType == "" {
		return "unnamed type"
	}
	return mediaType
}

// maxPath bounds the path shown; first meetings cannot form a circle, but a damaged store could.
const maxPath = 100

func (v *View) explainPath(e *Explanation, ref storage.Ref, r storage.Record) error {
	for range maxPath {
		href, err := v.url(ref)
		if err != nil {
			return err
		}
		e.Path = append(e.Path, Step{URL: href, Depth: r.Depth})
		if ref = r.Via; ref.ID == 0 {
			break
		}
		if r, err = v.record(ref); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) explainRefusal(e *Explanation, partition int, key string) error {
	var r storage.Refusal
	var ok bool
	err := v.dir.Stores()[partition].View(func(tx *storage.Tx) (err error) {
		r, ok, err = tx.Refusal(key)
		return err
	})
	if err != nil {
		return err
	}
	if !ok {
		e.say("state", "unknown", "no page or seed has led to it")
		return nil
	}
	e.say("state", "refused", "%s: %s", r.Reason, r.Detail)
	e.say("depth", fmt.Sprint(r.Depth), "links from a seed, the least over all paths met")
	e.Path = append(e.Path, Step{URL: r.Href, Depth: r.Depth})
	if r.Via.ID == 0 {
		return nil
	}
	record, err := v.record(r.Via)
	if err != nil {
		return err
	}
	return v.explainPath(e, r.Via, record)
}

// explainRaw looks for a reference that is no URL among those refused; it may have been met in any partition.
func (v *View) explainRaw(e *Explanation, text string) error {
	for n, store := range v.dir.Stores() {
		var ok bool
		err := store.View(func(tx *storage.Tx) (err error) {
			_, ok, err = tx.Refusal(clip(text))
			return err
		})
		if err != nil {
			return err
		}
		if ok {
			return v.explainRefusal(e, n, clip(text))
		}
	}
	return nil
}

func (v *View) explainHost(e *Explanation, name string) error {
	if v.live != nil {
		h := v.live.frontier.Host(name)
		switch {
		case h.State == "idle":
			e.say("host", h.State, "nothing of %s is queued; delay %v", name, h.Delay)
		case h.Why != "":
			e.say("host", h.State, "%s: %s until %s; %d queued, %d leased, delay %v", name, h.Why, stamp(h.Due), h.Queued, h.Leased, h.Delay)
		default:
			e.say("host", h.State, "%s: due %s; %d queued, %d leased, delay %v", name, stamp(h.Due), h.Queued, h.Leased, h.Delay)
		}
		return nil
	}
	return v.dir.Stores()[v.partitionOf(name)].View(func(tx *storage.Tx) error {
		h, err := tx.Host(name)
		switch {
		case err != nil:
			return err
		case h.ID == 0:
			e.say("host", "unknown", "no URL of %s was admitted", name)
		case h.Queued > 0 && h.Parked == h.Queued:
			e.say("host", "deferred", "%s: %s; %d queued", name, frontier.WhyRobots, h.Queued)
		case h.Until.After(time.Now()):
			e.say("host", "deferred", "%s: %s until %s; %d queued", name, h.Why, stamp(h.Until), h.Queued)
		default:
			e.say("host", "known", "%s: %d URLs admitted, %d queued", name, h.Admitted, h.Queued)
		}
		return nil
	})
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "now"
	}
	return t.UTC().Format(time.RFC3339)
}
