package storage_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crawler/storage"
)

// A damaged file must not end the process, hang, or pass for a new store.

// sound returns the bytes of a store of some size.
func sound(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, storage.Options{NoSync: true})
	fill(t, s)
	for n := range 20 {
		update(t, s, func(tx *storage.Tx) {
			for i := range 100 {
				mustAdmit(t, tx, fmt.Sprint("host", i), fmt.Sprintf("http://host%d/%d", i, n), storage.Record{
					State: storage.State(1 + n%4), Depth: n, Via: storage.Ref{ID: storage.ID(i)},
				})
			}
			must(t, tx.SetRobots(fmt.Sprint("http://host", n), storage.Robots{Body: make([]byte, 9000)}))
		})
	}
	size := s.Size()
	must(t, s.Check())
	must(t, s.Close())
	b, err := os.ReadFile(path)
	must(t, err)
	return b[:size] // without the room that bbolt keeps at the end
}

// use does what a crawl does with a store, until something fails.
func use(path string, opt storage.Options) (err error) {
	s, err := storage.OpenStore(path, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	work := []func() error{
		func() error {
			return s.View(func(tx *storage.Tx) error {
				for name, h := range tx.Hosts() {
					count(tx.Queue(h.ID))
					count2(tx.Later(h.ID))
					if _, err := tx.Host(name); err != nil {
						return err
					}
				}
				for id, key := range tx.Log(0) {
					if found, ok := tx.Find(key); !ok || found != id {
						return fmt.Errorf("%w: %q is lost", storage.ErrDamaged, key)
					}
					if _, err := tx.Record(id); err != nil {
						return err
					}
				}
				if tx.Last() == 0 {
					return errors.New("the store is empty")
				}
				count2(tx.Refusals(""))
				_, _, err := tx.Robots("http://host3")
				return err
			})
		},
		s.Check,
	}
	if !opt.ReadOnly {
		work = append(work, func() error {
			return s.Update(func(tx *storage.Tx) error {
				for n := range 200 {
					if _, err := admit(tx, fmt.Sprint("host", n), fmt.Sprintf("http://host%d/new", n), queued); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	for _, f := range work {
		if workErr := f(); workErr != nil {
			err = errors.Join(err, workErr)
			if !errors.Is(workErr, storage.ErrDamaged) {
				return fmt.Errorf("not as damage: %w", workErr)
			}
		}
	}
	return err
}

// useBoth uses a file for reading and then for writing, and reports what is not said to be damage.
func useBoth(t *testing.T, path string) (damaged bool) {
	t.Helper()
	for _, opt := range []storage.Options{{ReadOnly: true}, {NoSync: true}} {
		err := use(path, opt)
		if err != nil && !errors.Is(err, storage.ErrDamaged) && !errors.Is(err, storage.ErrFormat) {
			t.Errorf("read only %v: got %v, want ErrDamaged", opt.ReadOnly, err)
		}
		damaged = damaged || err != nil
	}
	return damaged
}

func TestAFileCutShortIsDamaged(t *testing.T) {
	whole := sound(t)
	path := filepath.Join(t.TempDir(), "store.db")
	for _, size := range []int{1, 100, 4095, 4096, 8192, 10_000, 16384, 20_000, len(whole) / 2, len(whole) - 4096, len(whole) - 1} {
		must(t, os.WriteFile(path, whole[:size], 0o644))
		if !useBoth(t, path) {
			t.Errorf("%d of %d bytes pass for a store", size, len(whole))
		}
	}
	must(t, os.WriteFile(path, whole, 0o644))
	if useBoth(t, path) {
		t.Error("the whole file is not sound")
	}
}

func TestPagesOverwrittenAreDamage(t *testing.T) {
	whole := sound(t)
	path := filepath.Join(t.TempDir(), "store.db")
	found := 0
	const rounds = 100
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 0))
		b := append([]byte(nil), whole...)
		for range 1 + r.IntN(3) {
			at := r.IntN(len(b))
			if r.IntN(2) == 0 {
				at -= at % os.Getpagesize() // where a page tells what it is
			}
			n := min(1+r.IntN([]int{8, 64, 4096}[r.IntN(3)]), len(b)-at)
			for i := range n {
				b[at+i] = byte(r.Uint32())
			}
		}
		must(t, os.WriteFile(path, b, 0o644))
		if useBoth(t, path) {
			found++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if found < rounds/4 {
		t.Errorf("%d of %d damaged files are found out", found, rounds)
	}
	t.Logf("%d of %d damaged files are found out", found, rounds)
}

// The tables alone do not show it, or reading them would not end.
func TestCheckFindsDisorderOfPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, storage.Options{NoSync: true})
	update(t, s, func(tx *storage.Tx) {
		for n := range 2000 {
			if _, err := tx.AddAnchor(fmt.Sprintf("http://anchor%04d.example/", n)); err != nil {
				t.Fatal(err)
			}
		}
	})
	must(t, s.Check())
	must(t, s.Close())
	whole, err := os.ReadFile(path)
	must(t, err)
	for name, tt := range map[string]struct {
		damage func(b []byte)
		want   string
	}{
		"keys out of order": {func(b []byte) {
			copy(b[bytes.LastIndex(b, []byte("anchor1000")):], "anchor9999")
		}, "needs to be"},
		"a page that leads to itself": {func(b []byte) {
			for at := 0; at < len(b); at += os.Getpagesize() {
				if id, kind := b[at:at+8], b[at+8]; kind == 1 && id[0] != 0 {
					copy(b[at+16+8:], id) // the first element's page
				}
			}
		}, "two lead to it"},
	} {
		b := bytes.Clone(whole)
		tt.damage(b)
		must(t, os.WriteFile(path, b, 0o644))
		s := open(t, path, storage.Options{ReadOnly: true})
		if err := s.Check(); !errors.Is(err, storage.ErrDamaged) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want ErrDamaged: %s", name, err, tt.want)
		}
		must(t, s.Close())
	}
}

// A commit writes pages that the commit before it does not use, and then the page that says which count. What a crash
// tears is one of these.
func TestATornCommitIsTheOneBefore(t *testing.T) {
	page := os.Getpagesize()
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, storage.Options{})
	for range 30 {
		update(t, s, func(tx *storage.Tx) { must(t, grow(tx, 100)) })
	}
	before, err := os.ReadFile(path)
	must(t, err)
	update(t, s, func(tx *storage.Tx) { must(t, grow(tx, 100)) })
	must(t, s.Close())
	after, err := os.ReadFile(path)
	must(t, err)

	var changed []int // pages
	before = append(before, make([]byte, max(0, len(after)-len(before)))...)
	for at := 0; at < len(after); at += page {
		if string(before[at:at+page]) != string(after[at:at+page]) {
			changed = append(changed, at)
		}
	}
	if len(changed) < 3 || changed[0] > page {
		t.Fatalf("the commit has changed pages at %v; want one of the first two and more", changed)
	}
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 0))
		torn := append([]byte(nil), before...)
		for _, at := range changed[1:] {
			switch r.IntN(3) {
			case 0:
				copy(torn[at:at+page], after[at:])
			case 1:
				copy(torn[at:at+512*r.IntN(8)], after[at:])
			}
		}
		if seed%2 == 1 { // the page that counts, torn
			copy(torn[changed[0]:changed[0]+16+8*(1+r.IntN(6))], after[changed[0]:])
		}
		must(t, os.WriteFile(path, torn, 0o644))
		grown(t, path, 3000, 100)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
