package storage

import (
	"encoding/binary"
	"fmt"
	"iter"
	"time"
)

// State says where an admitted URL stands.
type State byte

// The states of an admitted URL.
const (
	Queued  State = 1 // waits for its turn, or for its next try
	Fetched State = 2 // an answer was taken
	Failed  State = 3 // given up
	Refused State = 4 // admitted, and then not to be crawled after all
)

// String returns the state's name as users know it.
func (s State) String() string {
	switch s {
	case Queued:
		return "queued"
	case Fetched:
		return "fetched"
	case Failed:
		return "failed"
	case Refused:
		return "refused"
	}
	return fmt.Sprintf("state %d", byte(s))
}

// Record is the state of one admitted URL.
type Record struct {
	State     State
	Reason    string    // why it failed, was refused or is tried again: a short name that is counted
	Detail    string    // the reason in words
	Depth     int       // least number of links from a seed over all paths met
	Hops      int       // redirects in a row that led here
	Via       Ref       // the page on which it was first met
	Seed      bool      // a seed or the target of a seed's redirect
	Fallback  bool      // a seed written without a scheme, to be tried over http should https not answer
	Parked    bool      // while Queued: it waits for a robots.txt that cannot be had
	Tries     int       // fetches that did not settle it
	Due       time.Time // while Queued: not before; zero when only the host's politeness counts
	Status    int       // HTTP status of the last answer, 0 for none
	Bytes     int64     // size of the decoded body
	MediaType string    // of the last answer, without parameters
	Fetched   time.Time // end of the last fetch
}

const recordVersion = 1

const (
	flagSeed = 1 << iota
	flagFallback
	flagParked
)

func (r *Record) encode() []byte {
	var flags byte
	if r.Seed {
		flags |= flagSeed
	}
	if r.Fallback {
		flags |= flagFallback
	}
	if r.Parked {
		flags |= flagParked
	}
	b := []byte{recordVersion, byte(r.State), flags}
	b = appendString(b, r.Reason)
	b = appendString(b, r.Detail)
	b = binary.AppendVarint(b, int64(r.Depth))
	b = binary.AppendVarint(b, int64(r.Hops))
	b = binary.AppendVarint(b, int64(r.Via.Partition))
	b = binary.AppendUvarint(b, uint64(r.Via.ID))
	b = binary.AppendVarint(b, int64(r.Tries))
	b = appendTime(b, r.Due)
	b = binary.AppendVarint(b, int64(r.Status))
	b = binary.AppendVarint(b, r.Bytes)
	b = appendString(b, r.MediaType)
	return appendTime(b, r.Fetched)
}

func decodeRecord(b []byte) (Record, error) {
	d := decode("record", recordVersion, b)
	r := Record{State: State(d.byte())}
	if r.State < Queued || r.State > Refused {
		d.fail()
	}
	flags := d.byte()
	r.Seed, r.Fallback, r.Parked = flags&flagSeed != 0, flags&flagFallback != 0, flags&flagParked != 0
	r.Reason, r.Detail = d.string(), d.string()
	r.Depth, r.Hops = d.int(), d.int()
	r.Via = Ref{Partition: d.int(), ID: ID(d.uvarint())}
	r.Tries, r.Due = d.int(), d.time()
	r.Status, r.Bytes, r.MediaType, r.Fetched = d.int(), d.varint(), d.string(), d.time()
	return r, d.done()
}

// Record returns the state of id. An id without one is damage.
func (t *Tx) Record(id ID) (Record, error) {
	b := t.records.Get(id.bytes())
	if b == nil {
		return Record{}, fmt.Errorf("%w: URL %d has no record", ErrDamaged, id)
	}
	return decodeRecord(b)
}

// SetRecord keeps the state of id, a URL of the host with the given ID, and moves the URL to where it belongs in the
// host's queues.
func (t *Tx) SetRecord(id ID, host uint32, r Record) error {
	if b := t.records.Get(id.bytes()); b != nil {
		old, err := decodeRecord(b)
		if err != nil {
			return err
		}
		if err := t.unqueue(id, host, &old); err != nil {
			return err
		}
	}
	if err := put("records", t.records, id.bytes(), r.encode()); err != nil {
		return err
	}
	return t.enqueue(id, host, &r)
}

// Records yields the states of the URLs after the given ID, in order of admission.
func (t *Tx) Records(after ID) iter.Seq2[ID, Record] {
	return func(yield func(ID, Record) bool) {
		for k, v := range entries(t.records, (after + 1).bytes()) {
			id, err := decodeID(k)
			if t.fails(err) {
				return
			}
			r, err := decodeRecord(v)
			if t.fails(err) || !yield(id, r) {
				return
			}
		}
	}
}
