package storage

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// Values are a version byte and then fields in a fixed order: unsigned and zigzag varints, and strings as length and
// bytes. Times are nanoseconds since 1970, 0 for the zero time.

// nanos returns t as it is stored. Times out of range, which the clock does not give, become the nearest that has a
// place of its own, so that two that are stored alike are equal.
func nanos(t time.Time) int64 {
	switch {
	case t.IsZero():
		return 0
	case t.Before(time.Unix(0, 1)):
		return 1
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendTime(b []byte, t time.Time) []byte {
	return binary.AppendVarint(b, nanos(t))
}

// decoder reads the fields of a value. After a fault it reads zeros; done reports the fault.
type decoder struct {
	b    []byte
	what string
	bad  bool
}

// decode begins to read a value of the given version.
func decode(what string, version byte, b []byte) decoder {
	d := decoder{b: b, what: what}
	if d.byte() != version {
		d.fail()
	}
	return d
}

func (d *decoder) fail() { d.bad, d.b = true, nil }

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail()
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int { return int(d.varint()) }

func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	s := d.b[:n]
	d.b = d.b[n:]
	return s
}

func (d *decoder) string() string { return string(d.bytes()) }

func (d *decoder) time() time.Time {
	ns := d.varint()
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

func (d *decoder) done() error {
	if d.bad || len(d.b) > 0 {
		return unreadable(d.what)
	}
	return nil
}

func unreadable(what string) error {
	return fmt.Errorf("%w: a %s that cannot be read", ErrDamaged, what)
}
