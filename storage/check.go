package storage

import (
	"bytes"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
)

// maxFaults bounds the faults that Check tells.
const maxFaults = 20

// audit collects faults.
type audit struct {
	faults []error
	more   int // that are not told
}

func (a *audit) fault(format string, args ...any) {
	if len(a.faults) == maxFaults {
		a.more++
		return
	}
	a.faults = append(a.faults, fmt.Errorf(format, args...))
}

func (a *audit) err() error {
	if a.more > 0 {
		return errors.Join(append(a.faults, fmt.Errorf("and %d more", a.more))...)
	}
	return errors.Join(a.faults...)
}

// Check reads the whole store and reports, with ErrDamaged, what cannot be read and where the tables disagree: log
// against index and records, records against queues, hosts against queues and log, and the pages of the file themselves.
// Writers wait until it is done.
func (s *Store) Check() error {
	return s.run(s.hold, func(t *Tx) error {
		var a audit
		// In this order, as each relies on what those before it found sound.
		for _, check := range []func(*Tx, *audit){s.checkPages, checkFile, checkURLs, checkHosts, checkRest} {
			check(t, &a)
			if err := a.err(); err != nil {
				return fmt.Errorf("%w: %w", ErrDamaged, err)
			}
		}
		return nil
	})
}

// hold runs fn in a transaction that changes nothing and that no other writer runs beside: the list of free pages that
// bbolt checks is the writer's.
func (s *Store) hold(fn func(*bbolt.Tx) error) error {
	tx, err := s.db.Begin(!s.db.IsReadOnly())
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // fails only after an end that there is not
	return fn(tx)
}

// checkFile has bbolt look for disorder within and between pages.
func checkFile(t *Tx, a *audit) {
	for err := range t.tx.Check() {
		a.fault("%w", err)
	}
}

// checkURLs compares log, index, records and refusals.
func checkURLs(t *Tx, a *audit) {
	last := ID(0)
	logged := 0
	for id, key := range t.Log(0) {
		if logged++; id != last+1 {
			a.fault("log: %d follows %d", id, last)
		}
		last = id
		if found, _ := t.Find(key); found != id {
			a.fault("index: %q leads to %d, the log has it at %d", key, found, id)
		}
		if _, err := t.Record(id); err != nil {
			a.fault("records: %d: %w", id, err)
		}
	}
	if n := t.index.Stats().KeyN; n != logged {
		a.fault("index: %d keys, the log has %d", n, logged)
	}
	if n := t.records.Stats().KeyN; n != logged {
		a.fault("records: %d, the log has %d URLs", n, logged)
	}
	for key := range t.Refusals("") {
		if id, found := t.Find(key); found {
			a.fault("refused: %q is admitted as %d", key, id)
		}
	}
}

// checkHosts compares the hosts with the queues, and these with the records.
func checkHosts(t *Tx, a *audit) {
	names := make(map[uint32]string)
	admitted, queued := 0, 0
	for name, h := range t.Hosts() {
		if other, taken := names[h.ID]; taken {
			a.fault("hosts: %s and %s are both number %d", other, name, h.ID)
			continue
		}
		names[h.ID] = name
		if uint64(h.ID) > t.hosts.Sequence() || h.ID == 0 {
			a.fault("hosts: %s has the number %d, which was not given", name, h.ID)
		}
		n, parked := 0, 0
		for _, table := range []*bbolt.Bucket{t.queue, t.later} {
			for key := range withPrefix(table, h.ID) {
				n++
				if t.checkPlace(a, h.ID, key) {
					parked++
				}
			}
		}
		if parked != h.Parked {
			a.fault("hosts: %s counts %d parked URLs, its queues hold %d", name, h.Parked, parked)
		}
		if n != h.Queued {
			a.fault("hosts: %s counts %d queued URLs, its queues hold %d", name, h.Queued, n)
		}
		admitted += h.Admitted
		queued += n
	}
	if n := int(t.Last()); admitted != n {
		a.fault("hosts: they count %d admitted URLs, the log has %d", admitted, n)
	}
	if n := t.queue.Stats().KeyN + t.later.Stats().KeyN; n != queued {
		a.fault("queues: %d URLs, %d of them of known hosts", n, queued)
	}
	for _, r := range t.Records(0) {
		if r.State == Queued {
			queued--
		}
	}
	if queued != 0 {
		a.fault("queues: %d URLs more than records say", queued)
	}
}

// checkPlace reports an entry of a host's queues that is not where the URL's record says. It returns whether the URL is
// parked.
func (t *Tx) checkPlace(a *audit, host uint32, key []byte) (parked bool) {
	id, err := decodeID(key[max(len(key)-8, 0):])
	if err != nil {
		a.fault("queues: %x: %w", key, err)
		return false
	}
	r, err := t.Record(id)
	if err != nil {
		a.fault("queues: %d: %w", id, err)
		return false
	}
	if _, at := t.place(id, host, &r); r.State != Queued || !bytes.Equal(at, key) { // no key fits both queues
		a.fault("queues: URL %d stands where its record (%v, depth %d, due %v) does not say", id, r.State, r.Depth, r.Due)
	}
	return r.Parked
}

// checkRest reads the tables that stand alone.
func checkRest(t *Tx, a *audit) {
	last := t.Last()
	for k, v := range entries(t.links, nil) {
		id, err := decodeID(k)
		if _, unread := decodeLinks(v); err != nil || unread != nil {
			a.fault("links: %d: %w", id, errors.Join(err, unread))
		} else if id > last {
			a.fault("links: of URL %d, which is not in the log", id)
		}
	}
	for id := range t.Relinks() {
		if id > last {
			a.fault("relink: URL %d is not in the log", id)
		}
	}
	for k, v := range entries(t.robots, nil) {
		if _, err := decodeRobots(v); err != nil {
			a.fault("robots: %s: %w", k, err)
		}
	}
}
