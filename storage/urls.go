package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"
)

// ID is the place of a URL in its partition's log, from 1, in order of admission and without gaps. 0 is no URL.
type ID uint64

// Ref names a URL of any partition of the crawl. The zero Ref names none.
type Ref struct {
	Partition int
	ID        ID
}

// Tx is a transaction on one partition. It is for one goroutine, and its slices and iterators die with it; strings and
// structs that it returns live on. A table must not be changed while an iterator over it runs. An iterator that meets
// an entry it cannot read ends there, and the transaction fails with ErrDamaged whatever its function returns.
type Tx struct {
	tx                                                                                      *bbolt.Tx
	log, index, records, queue, later, hosts, refused, links, relink, robots, anchors, meta *bbolt.Bucket

	err error // the first that fails saw
}

func newTx(tx *bbolt.Tx) (*Tx, error) {
	t := &Tx{tx: tx}
	for i, table := range []**bbolt.Bucket{
		&t.log, &t.index, &t.records, &t.queue, &t.later, &t.hosts,
		&t.refused, &t.links, &t.relink, &t.robots, &t.anchors, &t.meta,
	} {
		if *table = tx.Bucket(tables[i]); *table == nil {
			return nil, fmt.Errorf("%w: table %s is missing", ErrDamaged, tables[i])
		}
	}
	t.log.FillPercent = 1 // the log only grows at its end
	return t, nil
}

// do runs fn, and fails as well if something could not be read that fn was not told of.
func (t *Tx) do(fn func(*Tx) error) error {
	err := fn(t)
	if t.err == nil {
		return err
	}
	return errors.Join(err, t.err)
}

// fails reports whether err is one, and if so has the transaction fail with it.
func (t *Tx) fails(err error) bool {
	if t.err == nil {
		t.err = err
	}
	return err != nil
}

// entries yields what a table holds from the given key on.
func entries(table *bbolt.Bucket, from []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		c := table.Cursor()
		for k, v := c.Seek(from); k != nil && yield(k, v); k, v = c.Next() {
		}
	}
}

// has reports whether a table holds key. bbolt's Get does not tell an empty value from none.
func has(table *bbolt.Bucket, key []byte) bool {
	k, _ := table.Cursor().Seek(key)
	return string(k) == string(key)
}

func put(name string, table *bbolt.Bucket, key, value []byte) error {
	if err := table.Put(key, value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// OnCommit has fn called once the transaction is durable. If it is rolled back, fn is not called. fn must not call
// Store.Update.
func (t *Tx) OnCommit(fn func()) { t.tx.OnCommit(fn) }

func (id ID) bytes() []byte { return binary.BigEndian.AppendUint64(nil, uint64(id)) }

func decodeID(b []byte) (ID, error) {
	if len(b) != 8 {
		return 0, unreadable("URL number")
	}
	id := ID(binary.BigEndian.Uint64(b))
	if id == 0 {
		return 0, unreadable("URL number")
	}
	return id, nil
}

// Find returns the ID of key. The whole key is compared. If the index cannot be read the transaction fails.
func (t *Tx) Find(key string) (ID, bool) {
	b := t.index.Get([]byte(key))
	if b == nil {
		return 0, false
	}
	id, err := decodeID(b)
	return id, !t.fails(err)
}

// Append puts a URL at the end of the log and into the index. The caller has made sure that key is absent. href is what
// is fetched.
func (t *Tx) Append(key, href string) (ID, error) {
	id := t.Last() + 1
	value := appendString([]byte{logVersion}, key)
	if href == key {
		href = "" // most are
	}
	if err := put("log", t.log, id.bytes(), appendString(value, href)); err != nil {
		return 0, err
	}
	if err := put("index", t.index, []byte(key), id.bytes()); err != nil {
		return 0, err
	}
	return id, nil
}

const logVersion = 1

func decodeLog(b []byte) (key, href string, err error) {
	d := decode("log entry", logVersion, b)
	key, href = d.string(), d.string()
	if href == "" {
		href = key
	}
	return key, href, d.done()
}

// Last returns the newest ID, 0 while the log is empty.
func (t *Tx) Last() ID {
	k, _ := t.log.Cursor().Last()
	if k == nil {
		return 0
	}
	id, err := decodeID(k)
	t.fails(err)
	return id
}

// URL returns the key and the URL to fetch of id. An id that is not in the log is damage.
func (t *Tx) URL(id ID) (key, href string, err error) {
	b := t.log.Get(id.bytes())
	if b == nil {
		return "", "", fmt.Errorf("%w: URL %d is not in the log", ErrDamaged, id)
	}
	return decodeLog(b)
}

// Log yields the keys after the given ID in order of admission.
func (t *Tx) Log(after ID) iter.Seq2[ID, string] {
	return func(yield func(ID, string) bool) {
		for k, v := range entries(t.log, (after + 1).bytes()) {
			id, err := decodeID(k)
			if t.fails(err) {
				return
			}
			key, _, err := decodeLog(v)
			if t.fails(err) || !yield(id, key) {
				return
			}
		}
	}
}
