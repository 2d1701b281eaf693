package storage_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"crawler/storage"
)

// tb is what the helpers need of testing.T, testing.B and rapid.T.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// newStore makes a store that must be sound at the end of the test.
func newStore(t testing.TB) *storage.Store {
	t.Helper()
	s := open(t, filepath.Join(t.TempDir(), "store.db"), storage.Options{NoSync: true})
	t.Cleanup(func() {
		if err := s.Check(); err != nil && !t.Failed() {
			t.Errorf("Check at the end: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func open(t tb, path string, opt storage.Options) *storage.Store {
	t.Helper()
	s, err := storage.OpenStore(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func update(t tb, s *storage.Store, fn func(*storage.Tx)) {
	t.Helper()
	if err := s.Update(func(tx *storage.Tx) error { fn(tx); return nil }); err != nil {
		t.Fatalf("Update: %v", err)
	}
}

func view(t tb, s *storage.Store, fn func(*storage.Tx)) {
	t.Helper()
	if err := s.View(func(tx *storage.Tx) error { fn(tx); return nil }); err != nil {
		t.Fatalf("View: %v", err)
	}
}

func must(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// admit appends a URL of a host with its record and counts it, as a frontier does.
func admit(tx *storage.Tx, host, key string, r storage.Record) (storage.ID, error) {
	h, err := tx.Host(host)
	if err != nil {
		return 0, err
	}
	id, err := tx.Append(key, key)
	if err != nil {
		return 0, err
	}
	h.Admitted++
	if r.State == storage.Queued {
		h.Queued++
	}
	if err := tx.SetHost(host, h); err != nil {
		return 0, err
	}
	return id, tx.SetRecord(id, h.ID, r)
}

func mustAdmit(t tb, tx *storage.Tx, host, key string, r storage.Record) storage.ID {
	t.Helper()
	id, err := admit(tx, host, key, r)
	must(t, err)
	return id
}

var queued = storage.Record{State: storage.Queued}

// grow admits n URLs, and settles the URLs of the batch before.
func grow(tx *storage.Tx, n int) error {
	last := tx.Last()
	const host = "h"
	h, err := tx.Host(host)
	if err != nil {
		return err
	}
	for id := last; id > 0 && id+storage.ID(n) > last; id-- {
		h.Queued--
		if err := tx.SetRecord(id, h.ID, storage.Record{State: storage.Fetched, Detail: strings.Repeat("x", int(id%100))}); err != nil {
			return err
		}
	}
	if err := tx.SetHost(host, h); err != nil {
		return err
	}
	for i := range n {
		key := fmt.Sprintf("http://h/%x/%d", (uint64(last)+uint64(i))*0x9e3779b97f4a7c15, uint64(last)+uint64(i)+1)
		if _, err := admit(tx, host, key, queued); err != nil {
			return err
		}
	}
	return nil
}

// grown reports a store that does not hold whole batches up to the one acknowledged, and at most one more.
func grown(t *testing.T, path string, acknowledged storage.ID, batch int) {
	t.Helper()
	s := open(t, path, storage.Options{})
	defer s.Close()
	must(t, s.Check())
	view(t, s, func(tx *storage.Tx) {
		last := tx.Last()
		if last < acknowledged || last > acknowledged+storage.ID(batch) || last%storage.ID(batch) != 0 {
			t.Errorf("got %d URLs, want %d, or one batch of %d more", last, acknowledged, batch)
		}
		for id, key := range tx.Log(0) {
			if !strings.HasSuffix(key, fmt.Sprint("/", id)) {
				t.Fatalf("URL %d: got key %s", id, key)
			}
		}
	})
	update(t, s, func(tx *storage.Tx) { must(t, grow(tx, batch)) })
	must(t, s.Check())
}

// noon is a time with a fraction.
var noon = time.Date(2024, 5, 17, 12, 0, 0, 123456789, time.UTC)

// fill puts a little of everything into a store.
func fill(t tb, s *storage.Store) {
	t.Helper()
	update(t, s, func(tx *storage.Tx) {
		mustAdmit(t, tx, "a.example", "http://a.example/", storage.Record{
			State: storage.Fetched, Seed: true, Status: 200, Bytes: 5120, MediaType: "text/html", Fetched: noon,
		})
		mustAdmit(t, tx, "a.example", "http://a.example/one", storage.Record{
			State: storage.Queued, Depth: 1, Via: storage.Ref{ID: 1},
		})
		mustAdmit(t, tx, "b.example", "http://b.example/", storage.Record{
			State: storage.Queued, Reason: "timeout", Detail: "no answer in 30s", Depth: 2, Hops: 1, Fallback: true, Parked: true,
			Via: storage.Ref{Partition: 3, ID: 300}, Tries: 2, Due: noon.Add(time.Minute),
		})
		mustAdmit(t, tx, "b.example", "http://b.example/x", storage.Record{State: storage.Failed, Reason: "dns"})
		h, err := tx.Host("b.example")
		must(t, err)
		h.LastEnd, h.Answer, h.Fails, h.Silent, h.Parked, h.Unreachable = noon, 250*time.Millisecond, 4, 3, 1, 5
		h.Until, h.Why, h.CrawlDelay = noon.Add(time.Hour), "timeout", 10*time.Second
		must(t, tx.SetHost("b.example", h))
		must(t, tx.SetRefusal("http://c.example/", storage.Refusal{
			Reason: "scope", Detail: "another host", Href: "http://c.example/#f", Depth: 1, Hops: 2,
			Via: storage.Ref{Partition: 1, ID: 7}, Seed: true,
		}))
		must(t, tx.SetLinks(1, []storage.StoredLink{{Href: "http://a.example/one"}, {Href: "http://b.example/", Redirect: true}}))
		must(t, tx.MarkRelink(1))
		must(t, tx.SetRobots("http://a.example", storage.Robots{
			Access: "rules", Status: 200, Kind: "timeout", Detail: "none", Fetched: noon, Fails: 2, Next: noon.Add(time.Minute),
			CrawlDelay: time.Second, Body: []byte("User-agent: *\n"),
		}))
		if _, err := tx.AddAnchor("http://a.example/"); err != nil {
			t.Fatal(err)
		}
		must(t, tx.SetMeta("caller", []byte("its own")))
	})
}
