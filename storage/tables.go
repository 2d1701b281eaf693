package storage

import (
	"bytes"
	"encoding/binary"
	"iter"
	"time"
)

// Refusal says why a URL was not admitted.
type Refusal struct {
	Reason string // a short name that is counted
	Detail string // the reason in words
	Href   string // as it would be fetched, or as written if that cannot be said
	Depth  int    // least number of links from a seed over all paths met
	Hops   int    // redirects in a row that led here
	Via    Ref    // the page on which it was first met
	Seed   bool
}

const refusalVersion = 1

func (r *Refusal) encode() []byte {
	var flags byte
	if r.Seed {
		flags |= flagSeed
	}
	b := []byte{refusalVersion, flags}
	b = appendString(b, r.Reason)
	b = appendString(b, r.Detail)
	b = appendString(b, r.Href)
	b = binary.AppendVarint(b, int64(r.Depth))
	b = binary.AppendVarint(b, int64(r.Hops))
	b = binary.AppendVarint(b, int64(r.Via.Partition))
	return binary.AppendUvarint(b, uint64(r.Via.ID))
}

func decodeRefusal(b []byte) (Refusal, error) {
	d := decode("refusal", refusalVersion, b)
	r := Refusal{Seed: d.byte()&flagSeed != 0, Reason: d.string(), Detail: d.string(), Href: d.string(), Depth: d.int(), Hops: d.int()}
	r.Via = Ref{Partition: d.int(), ID: ID(d.uvarint())}
	return r, d.done()
}

// Refusal returns why key was not admitted, if it was refused.
func (t *Tx) Refusal(key string) (Refusal, bool, error) {
	b := t.refused.Get([]byte(key))
	if b == nil {
		return Refusal{}, false, nil
	}
	r, err := decodeRefusal(b)
	return r, err == nil, err
}

// SetRefusal keeps why key was not admitted.
func (t *Tx) SetRefusal(key string, r Refusal) error {
	return put("refused", t.refused, []byte(key), r.encode())
}

// DeleteRefusal forgets that key was refused.
func (t *Tx) DeleteRefusal(key string) error { return t.refused.Delete([]byte(key)) }

// Refusals yields the refused keys after the given one, in byte order.
func (t *Tx) Refusals(after string) iter.Seq2[string, Refusal] {
	return func(yield func(string, Refusal) bool) {
		for k, v := range entries(t.refused, []byte(after)) {
			if string(k) == after {
				continue
			}
			r, err := decodeRefusal(v)
			if t.fails(err) || !yield(string(k), r) {
				return
			}
		}
	}
}

// StoredLink is a link of a fetched page, kept so that it can be offered again should the page turn out to lie nearer.
type StoredLink struct {
	Href     string
	Redirect bool // leads to the same depth
}

const linksVersion = 1

func encodeLinks(links []StoredLink) []byte {
	b := binary.AppendUvarint([]byte{linksVersion}, uint64(len(links)))
	for _, l := range links {
		var flags byte
		if l.Redirect {
			flags = 1
		}
		b = appendString(append(b, flags), l.Href)
	}
	return b
}

func decodeLinks(b []byte) ([]StoredLink, error) {
	d := decode("list of links", linksVersion, b)
	n := d.uvarint()
	var links []StoredLink
	for ; n > 0 && !d.bad; n-- {
		redirect := d.byte() != 0
		links = append(links, StoredLink{Redirect: redirect, Href: d.string()})
	}
	return links, d.done()
}

// SetLinks keeps the links of a page.
func (t *Tx) SetLinks(id ID, links []StoredLink) error {
	return put("links", t.links, id.bytes(), encodeLinks(links))
}

// Links returns the links of a page that SetLinks kept.
func (t *Tx) Links(id ID) ([]StoredLink, error) {
	b := t.links.Get(id.bytes())
	if b == nil {
		return nil, nil
	}
	return decodeLinks(b)
}

// MarkRelink says that the links of a page are to be offered again.
func (t *Tx) MarkRelink(id ID) error { return put("relink", t.relink, id.bytes(), nil) }

// UnmarkRelink takes MarkRelink back.
func (t *Tx) UnmarkRelink(id ID) error { return t.relink.Delete(id.bytes()) }

// Relinks yields the pages whose links are to be offered again.
func (t *Tx) Relinks() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for k := range entries(t.relink, nil) {
			id, err := decodeID(k)
			if t.fails(err) || !yield(id) {
				return
			}
		}
	}
}

// Robots is the last robots.txt got from an origin.
type Robots struct {
	Access     string        // what follows from it, a robots.Access
	Status     int           // HTTP status, 0 for none
	Kind       string        // the kind of error, if there was one
	Detail     string        // the error in words
	Fetched    time.Time     // when it was asked for last
	Fails      int           // failures in a row to get it
	Next       time.Time     // after a failure: not asked for again before
	CrawlDelay time.Duration // that it asks of this crawler, 0 for none
	Body       []byte
}

const robotsVersion = 1

func (r *Robots) encode() []byte {
	b := appendString([]byte{robotsVersion}, r.Access)
	b = binary.AppendVarint(b, int64(r.Status))
	b = appendString(b, r.Kind)
	b = appendString(b, r.Detail)
	b = appendTime(b, r.Fetched)
	b = binary.AppendVarint(b, int64(r.Fails))
	b = appendTime(b, r.Next)
	b = binary.AppendVarint(b, int64(r.CrawlDelay))
	return append(binary.AppendUvarint(b, uint64(len(r.Body))), r.Body...)
}

func decodeRobots(b []byte) (Robots, error) {
	d := decode("robots.txt", robotsVersion, b)
	r := Robots{
		Access: d.string(), Status: d.int(), Kind: d.string(), Detail: d.string(), Fetched: d.time(),
		Fails: d.int(), Next: d.time(), CrawlDelay: time.Duration(d.varint()), Body: bytes.Clone(d.bytes()),
	}
	return r, d.done()
}

// Robots returns the last robots.txt of an origin, if there is one.
func (t *Tx) Robots(origin string) (Robots, bool, error) {
	b := t.robots.Get([]byte(origin))
	if b == nil {
		return Robots{}, false, nil
	}
	r, err := decodeRobots(b)
	return r, err == nil, err
}

// SetRobots keeps the last robots.txt of an origin.
func (t *Tx) SetRobots(origin string, r Robots) error {
	return put("robots", t.robots, []byte(origin), r.encode())
}

// AddAnchor keeps a URL from which scope is measured, and reports whether it was new.
func (t *Tx) AddAnchor(href string) (fresh bool, err error) {
	if has(t.anchors, []byte(href)) {
		return false, nil
	}
	return true, put("anchors", t.anchors, []byte(href), nil)
}

// Anchors yields the URLs from which scope is measured.
func (t *Tx) Anchors() iter.Seq[string] {
	return func(yield func(string) bool) {
		for k := range entries(t.anchors, nil) {
			if !yield(string(k)) {
				return
			}
		}
	}
}

// Meta returns the value that SetMeta kept under name, nil for none. The value dies with the transaction.
func (t *Tx) Meta(name string) []byte { return t.meta.Get([]byte("x." + name)) }

// SetMeta keeps a value of the caller's.
func (t *Tx) SetMeta(name string, value []byte) error {
	return put("meta", t.meta, []byte("x."+name), value)
}
