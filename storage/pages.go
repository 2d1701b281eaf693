package storage

import (
	"encoding/binary"
	"fmt"
	"io"
)

// bbolt's page, in the byte order of the machine. Offsets count from the element that has them.
//
//	header          id 8, kind 2, elements 2, further pages that it takes 4
//	branch element  offset of the key 4, its size 4, page 8
//	leaf element    flags 4, offset of the key 4, its size 4, size of the value behind it 4
//	bucket value    root page 8, or 0 and then the page itself; sequence 8
const (
	pageHeader   = 16
	pageElement  = 16
	bucketHeader = 16

	kindBranch = 1
	kindLeaf   = 2
	flagBucket = 1
)

// checkPages looks whether pages and their elements lie where they can. bbolt relies on that: its own check would fault,
// in a goroutine where nothing can catch it, or run in circles.
func (s *Store) checkPages(t *Tx, a *audit) {
	size := s.db.Info().PageSize
	w := pageWalk{file: s.file, size: size, met: make([]bool, t.tx.Size()/int64(size))}
	if err := w.page(uint64(t.tx.Cursor().Bucket().Root())); err != nil {
		a.fault("%w", err)
	}
}

// pageWalk goes through the pages that the tables take.
type pageWalk struct {
	file io.ReaderAt
	size int
	met  []bool // by page
}

func (w *pageWalk) page(id uint64) error {
	if id >= uint64(len(w.met)) {
		return fmt.Errorf("page %d: there are %d", id, len(w.met))
	}
	at := int64(id) * int64(w.size)
	b := make([]byte, w.size)
	if _, err := w.file.ReadAt(b, at); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	further := uint64(binary.NativeEndian.Uint32(b[12:]))
	if binary.NativeEndian.Uint64(b) != id || further >= uint64(len(w.met))-id {
		return fmt.Errorf("page %d: not a page", id)
	}
	for n := id; n <= id+further; n++ {
		if w.met[n] {
			return fmt.Errorf("page %d: two lead to it", n)
		}
		w.met[n] = true
	}
	if further > 0 {
		b = make([]byte, (1+int(further))*w.size)
		if _, err := w.file.ReadAt(b, at); err != nil {
			return fmt.Errorf("page %d: %w", id, err)
		}
	}
	if err := w.elements(b); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// elements goes through what a page holds, and the pages that it leads to.
func (w *pageWalk) elements(page []byte) error {
	kind, n := binary.NativeEndian.Uint16(page[8:]), int(binary.NativeEndian.Uint16(page[10:]))
	if (kind != kindLeaf && kind != kindBranch) || (kind == kindBranch && n == 0) {
		return fmt.Errorf("of kind %d with %d elements", kind, n)
	}
	if pageHeader+n*pageElement > len(page) {
		return fmt.Errorf("%d elements do not fit", n)
	}
	for i := range n {
		b := page[pageHeader+i*pageElement:]
		field := func(i int) uint64 { return uint64(binary.NativeEndian.Uint32(b[4*i:])) }
		flags, pos, key, value := field(0), field(1), field(2), field(3)
		if kind == kindBranch {
			flags, pos, key, value = 0, field(0), field(1), 0
		}
		if pos+key+value > uint64(len(b)) {
			return fmt.Errorf("element %d does not fit", i)
		}
		var err error
		switch {
		case kind == kindBranch:
			err = w.page(binary.NativeEndian.Uint64(b[8:]))
		case flags&flagBucket != 0:
			err = w.bucket(b[pos+key:][:value])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *pageWalk) bucket(value []byte) error {
	if len(value) < bucketHeader {
		return fmt.Errorf("a table of %d bytes", len(value))
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return w.page(root)
	}
	inline := value[bucketHeader:]
	if len(inline) < pageHeader {
		return fmt.Errorf("a table of %d bytes", len(value))
	}
	return w.elements(inline)
}
