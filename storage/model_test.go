package storage_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"crawler/storage"
)

// model is a store as simple as can be.
type model struct {
	keys    []string // in order of admission
	hosts   []string // by URL
	records []storage.Record
	refused map[string]storage.Refusal
}

func (m *model) clone() *model {
	return &model{slices.Clone(m.keys), slices.Clone(m.hosts), slices.Clone(m.records), maps.Clone(m.refused)}
}

// queue returns the URLs of a host in the order of their turn, and those that wait in the order of their time.
func (m *model) queue(host string) (queue, later []storage.ID) {
	for i, r := range m.records {
		switch {
		case m.hosts[i] != host || r.State != storage.Queued:
		case r.Due.IsZero():
			queue = append(queue, storage.ID(i+1))
		default:
			later = append(later, storage.ID(i+1))
		}
	}
	record := func(id storage.ID) storage.Record { return m.records[id-1] }
	slices.SortStableFunc(queue, func(a, b storage.ID) int { return record(a).Depth - record(b).Depth })
	slices.SortStableFunc(later, func(a, b storage.ID) int { return record(a).Due.Compare(record(b).Due) })
	return queue, later
}

func TestAStoreDoesWhatASimpleOneDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "model")
		must(t, err)
		defer os.RemoveAll(dir)
		path := dir + "/store.db"
		s := open(t, path, storage.Options{NoSync: true})
		defer func() { must(t, s.Close()) }()
		seed := s.HashSeed()
		m := &model{refused: make(map[string]storage.Refusal)}

		t.Repeat(map[string]func(*rapid.T){
			"update": func(t *rapid.T) {
				next := m.clone()
				fails := rapid.IntRange(0, 4).Draw(t, "fails") == 0
				err := s.Update(func(tx *storage.Tx) error {
					for range rapid.IntRange(1, 20).Draw(t, "changes") {
						change(t, tx, next)
					}
					if fails {
						return errStop
					}
					return nil
				})
				switch {
				case fails && !errors.Is(err, errStop):
					t.Fatalf("Update: got %v, want its function's error", err)
				case !fails:
					must(t, err)
					m = next
				}
			},
			"reopen": func(t *rapid.T) {
				must(t, s.Close())
				s = open(t, path, storage.Options{NoSync: true})
				if got := s.HashSeed(); got != seed {
					t.Fatalf("HashSeed after a reopening: got %x, want %x", got, seed)
				}
			},
			"compare": func(t *rapid.T) { compare(t, s, m) },
		})
		compare(t, s, m)
		must(t, s.Check())
	})
}

func change(t *rapid.T, tx *storage.Tx, m *model) {
	key := fmt.Sprint("http://", rapid.IntRange(0, 40).Draw(t, "key"))
	host := fmt.Sprint("host", len(key)+int(key[len(key)-1])%3)
	at := slices.Index(m.keys, key)
	record := storage.Record{
		State: storage.State(rapid.IntRange(1, 4).Draw(t, "state")),
		Depth: rapid.IntRange(0, 3).Draw(t, "depth"),
	}
	if rapid.Bool().Draw(t, "wait") {
		record.Due = noon.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "due")))
	}
	id, found := tx.Find(key)
	if found != (at >= 0) || (found && id != storage.ID(at+1)) {
		t.Fatalf("Find(%s): got %d, %v, the model has %d", key, id, found, at+1)
	}
	switch {
	case !found && rapid.IntRange(0, 3).Draw(t, "refuse") == 0:
		r := storage.Refusal{Reason: "depth", Depth: record.Depth}
		must(t, tx.SetRefusal(key, r))
		m.refused[key] = r
	case !found:
		must(t, tx.DeleteRefusal(key))
		delete(m.refused, key)
		mustAdmit(t, tx, host, key, record)
		m.keys, m.hosts, m.records = append(m.keys, key), append(m.hosts, host), append(m.records, record)
	default:
		h, err := tx.Host(host)
		must(t, err)
		must(t, tx.SetRecord(id, h.ID, record))
		if m.records[at].State == storage.Queued {
			h.Queued--
		}
		if record.State == storage.Queued {
			h.Queued++
		}
		must(t, tx.SetHost(host, h))
		m.records[at] = record
	}
}

func compare(t *rapid.T, s *storage.Store, m *model) {
	equal := func(what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s: -want +got:\n%s", what, diff)
		}
	}
	view(t, s, func(tx *storage.Tx) {
		var keys []string
		for _, key := range tx.Log(0) {
			keys = append(keys, key)
		}
		equal("log", keys, m.keys)
		var records []storage.Record
		for _, r := range tx.Records(0) {
			records = append(records, r)
		}
		equal("records", records, m.records)
		equal("refusals", maps.Collect(tx.Refusals("")), m.refused)
		admitted := make(map[string]int)
		for _, host := range m.hosts {
			admitted[host]++
		}
		hosts := make(map[string]int)
		for name, h := range tx.Hosts() {
			hosts[name] = h.Admitted
			queue, later := m.queue(name)
			equal("queue of "+name, slices.Collect(tx.Queue(h.ID)), queue)
			var got []storage.ID
			for _, id := range tx.Later(h.ID) {
				got = append(got, id)
			}
			equal("later queue of "+name, got, later)
			equal("queued of "+name, h.Queued, len(queue)+len(later))
		}
		equal("hosts", hosts, admitted)
	})
}
