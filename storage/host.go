package storage

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"time"
)

// Host is the durable state of one host.
type Host struct {
	ID       uint32 // names the host in the queues
	Admitted int    // URLs admitted
	Queued   int    // URLs in the queues

	LastEnd time.Time     // end of the last request
	Answer  time.Duration // moving average of the time to answer
	Fails   int           // host-level failures in a row
	Silent  int           // requests in a row that got no answer at all
	Parked  int           // of the queued URLs, those whose robots.txt cannot be had
	// Unreachable counts the failures in a row to get the robots.txt for which one was parked last.
	Unreachable int
	Until       time.Time     // no request before
	Why         string        // the reason for Until
	CrawlDelay  time.Duration // as robots.txt asks, 0 for none
}

const hostVersion = 1

func (h *Host) encode() []byte {
	b := []byte{hostVersion}
	b = binary.AppendUvarint(b, uint64(h.ID))
	b = binary.AppendVarint(b, int64(h.Admitted))
	b = binary.AppendVarint(b, int64(h.Queued))
	b = appendTime(b, h.LastEnd)
	b = binary.AppendVarint(b, int64(h.Answer))
	b = binary.AppendVarint(b, int64(h.Fails))
	b = binary.AppendVarint(b, int64(h.Silent))
	b = binary.AppendVarint(b, int64(h.Parked))
	b = binary.AppendVarint(b, int64(h.Unreachable))
	b = appendTime(b, h.Until)
	b = appendString(b, h.Why)
	return binary.AppendVarint(b, int64(h.CrawlDelay))
}

func decodeHost(b []byte) (Host, error) {
	d := decode("host", hostVersion, b)
	id := d.uvarint()
	if id > math.MaxUint32 {
		d.fail()
	}
	h := Host{
		ID: uint32(id), Admitted: d.int(), Queued: d.int(), LastEnd: d.time(),
		Answer: time.Duration(d.varint()), Fails: d.int(), Silent: d.int(), Parked: d.int(), Unreachable: d.int(),
		Until: d.time(), Why: d.string(), CrawlDelay: time.Duration(d.varint()),
	}
	return h, d.done()
}

// Host returns the state of the named host. One that is not known yet has, in a write transaction, a new ID and nothing
// else, and is kept only by SetHost; in a read transaction it is the zero Host.
func (t *Tx) Host(name string) (Host, error) {
	if b := t.hosts.Get([]byte(name)); b != nil {
		return decodeHost(b)
	}
	if !t.tx.Writable() {
		return Host{}, nil
	}
	n, err := t.hosts.NextSequence()
	if err != nil {
		return Host{}, fmt.Errorf("hosts: %w", err)
	}
	return Host{ID: uint32(n)}, nil
}

// SetHost keeps the state of the named host.
func (t *Tx) SetHost(name string, h Host) error {
	return put("hosts", t.hosts, []byte(name), h.encode())
}

// Hosts yields every known host by name.
func (t *Tx) Hosts() iter.Seq2[string, Host] {
	return func(yield func(string, Host) bool) {
		for k, v := range entries(t.hosts, nil) {
			h, err := decodeHost(v)
			if t.fails(err) || !yield(string(k), h) {
				return
			}
		}
	}
}
