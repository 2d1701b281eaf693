package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"time"

	"go.etcd.io/bbolt"
)

// The two queues are keyed by host, rank and ID. The rank of a URL whose turn comes by order is its depth, so that a
// host is crawled breadth first; the rank of one that waits for a time is that time.

func queueKey(host uint32, depth int, id ID) []byte {
	b := binary.BigEndian.AppendUint32(nil, host)
	b = binary.BigEndian.AppendUint32(b, uint32(depth))
	return binary.BigEndian.AppendUint64(b, uint64(id))
}

func laterKey(host uint32, due time.Time, id ID) []byte {
	b := binary.BigEndian.AppendUint32(nil, host)
	b = binary.BigEndian.AppendUint64(b, uint64(nanos(due)))
	return binary.BigEndian.AppendUint64(b, uint64(id))
}

func decodeQueueKey(b []byte) (ID, error) {
	if len(b) != 4+4+8 {
		return 0, unreadable("key of the queue")
	}
	return decodeID(b[8:])
}

func decodeLaterKey(b []byte) (time.Time, ID, error) {
	if len(b) != 4+8+8 {
		return time.Time{}, 0, unreadable("key of the later queue")
	}
	id, err := decodeID(b[12:])
	return time.Unix(0, int64(binary.BigEndian.Uint64(b[4:]))), id, err
}

func (t *Tx) place(id ID, host uint32, r *Record) (*bbolt.Bucket, []byte) {
	if r.Due.IsZero() {
		return t.queue, queueKey(host, r.Depth, id)
	}
	return t.later, laterKey(host, r.Due, id)
}

func (t *Tx) enqueue(id ID, host uint32, r *Record) error {
	if r.State != Queued {
		return nil
	}
	table, key := t.place(id, host, r)
	return put("queue", table, key, nil)
}

func (t *Tx) unqueue(id ID, host uint32, r *Record) error {
	if r.State != Queued {
		return nil
	}
	table, key := t.place(id, host, r)
	if err := table.Delete(key); err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	return nil
}

// Queue yields the URLs of a host whose turn comes by order: least depth first, then order of admission.
func (t *Tx) Queue(host uint32) iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for key := range withPrefix(t.queue, host) {
			id, err := decodeQueueKey(key)
			if t.fails(err) || !yield(id) {
				return
			}
		}
	}
}

// Later yields the URLs of a host that wait for a time, soonest first.
func (t *Tx) Later(host uint32) iter.Seq2[time.Time, ID] {
	return func(yield func(time.Time, ID) bool) {
		for key := range withPrefix(t.later, host) {
			due, id, err := decodeLaterKey(key)
			if t.fails(err) || !yield(due, id) {
				return
			}
		}
	}
}

func withPrefix(table *bbolt.Bucket, host uint32) iter.Seq[[]byte] {
	prefix := binary.BigEndian.AppendUint32(nil, host)
	return func(yield func([]byte) bool) {
		for k := range entries(table, prefix) {
			if !bytes.HasPrefix(k, prefix) || !yield(k) {
				return
			}
		}
	}
}
