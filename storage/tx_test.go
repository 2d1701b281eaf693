package storage_test

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"crawler/storage"
)

func TestTheLogNumbersURLsFromOneWithoutGaps(t *testing.T) {
	s := newStore(t)
	keys := []string{"http://a/", "http://a/b", "http://a/a"}
	view(t, s, func(tx *storage.Tx) {
		if got := tx.Last(); got != 0 {
			t.Errorf("Last of an empty log: got %d, want 0", got)
		}
	})
	for i, key := range keys { // a commit each
		update(t, s, func(tx *storage.Tx) {
			if got := mustAdmit(t, tx, "a", key, queued); got != storage.ID(i+1) {
				t.Errorf("ID of %s: got %d, want %d", key, got, i+1)
			}
			if got := tx.Last(); got != storage.ID(i+1) {
				t.Errorf("Last: got %d, want %d", got, i+1)
			}
		})
	}
	view(t, s, func(tx *storage.Tx) {
		for after := range len(keys) + 1 {
			var got []string
			for id, key := range tx.Log(storage.ID(after)) {
				if want := storage.ID(after + len(got) + 1); id != want {
					t.Errorf("Log(%d): got ID %d, want %d", after, id, want)
				}
				got = append(got, key)
			}
			if !slices.Equal(got, keys[after:]) {
				t.Errorf("Log(%d): got %q, want %q", after, got, keys[after:])
			}
		}
		for range tx.Log(0) {
			break // ends the iterator early
		}
	})
}

func TestFindComparesWholeKeys(t *testing.T) {
	s := newStore(t)
	long := "http://a/" + strings.Repeat("x", 16<<10)
	update(t, s, func(tx *storage.Tx) {
		mustAdmit(t, tx, "a", "http://a/abc", queued)
		mustAdmit(t, tx, "a", long, queued)
	})
	view(t, s, func(tx *storage.Tx) {
		for key, want := range map[string]storage.ID{
			"http://a/abc": 1, "http://a/ab": 0, "http://a/abcd": 0, "http://a/ABC": 0, "": 0,
			long: 2, long[1:]: 0, long + "x": 0,
		} {
			got, found := tx.Find(key)
			if got != want || found != (want != 0) {
				t.Errorf("Find(%.20q): got %d, %v, want %d", key, got, found, want)
			}
		}
	})
}

func TestURLGivesKeyAndHref(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store.db"), storage.Options{NoSync: true})
	defer s.Close()
	update(t, s, func(tx *storage.Tx) {
		for _, href := range []string{"http://a/", "http://a/#!x"} {
			if _, err := tx.Append("key of "+href, href); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := tx.Append("same", "same"); err != nil {
			t.Fatal(err)
		}
	})
	view(t, s, func(tx *storage.Tx) {
		for id, want := range map[storage.ID][2]string{
			1: {"key of http://a/", "http://a/"}, 2: {"key of http://a/#!x", "http://a/#!x"}, 3: {"same", "same"},
		} {
			key, href, err := tx.URL(id)
			if err != nil || key != want[0] || href != want[1] {
				t.Errorf("URL(%d): got %q, %q, %v, want %q", id, key, href, err, want)
			}
		}
		for _, id := range []storage.ID{0, 4} {
			if _, _, err := tx.URL(id); !errors.Is(err, storage.ErrDamaged) {
				t.Errorf("URL(%d), which there is not: got %v, want ErrDamaged", id, err)
			}
			if _, err := tx.Record(id); !errors.Is(err, storage.ErrDamaged) {
				t.Errorf("Record(%d), which there is not: got %v, want ErrDamaged", id, err)
			}
		}
	})
}

func TestQueuesFollowTheRecord(t *testing.T) {
	s := newStore(t)
	var host uint32
	update(t, s, func(tx *storage.Tx) {
		for i, depth := range []int{2, 1, 300, 1, 0} {
			mustAdmit(t, tx, "h", fmt.Sprint("http://h/", i), storage.Record{State: storage.Queued, Depth: depth})
		}
		mustAdmit(t, tx, "other", "http://other/", queued) // has its own queues
		h, err := tx.Host("h")
		must(t, err)
		host = h.ID
	})
	set := func(id storage.ID, change func(*storage.Record), queued int) {
		update(t, s, func(tx *storage.Tx) {
			r, err := tx.Record(id)
			must(t, err)
			change(&r)
			must(t, tx.SetRecord(id, host, r))
			h, err := tx.Host("h")
			must(t, err)
			h.Queued = queued
			must(t, tx.SetHost("h", h))
		})
	}
	check := func(when string, queue, later []storage.ID) {
		t.Helper()
		view(t, s, func(tx *storage.Tx) {
			if got := slices.Collect(tx.Queue(host)); !slices.Equal(got, queue) {
				t.Errorf("%s: queue: got %v, want %v", when, got, queue)
			}
			var got []storage.ID
			for due, id := range tx.Later(host) {
				if r, err := tx.Record(id); err != nil || !r.Due.Equal(due) {
					t.Errorf("%s: %d is due %v, its record says %v, %v", when, id, due, r.Due, err)
				}
				got = append(got, id)
			}
			if !slices.Equal(got, later) {
				t.Errorf("%s: later: got %v, want %v", when, got, later)
			}
		})
		must(t, s.Check())
	}
	check("least depth first, then by admission", []storage.ID{5, 2, 4, 1, 3}, nil)
	set(3, func(r *storage.Record) { r.Depth = 1 }, 5)
	check("met nearer", []storage.ID{5, 2, 3, 4, 1}, nil)
	set(2, func(r *storage.Record) { r.Due = noon.Add(time.Hour) }, 5)
	set(5, func(r *storage.Record) { r.Due = noon }, 5)
	set(4, func(r *storage.Record) { r.Due = noon.Add(time.Nanosecond) }, 5)
	check("waiting, soonest first", []storage.ID{3, 1}, []storage.ID{5, 4, 2})
	set(4, func(r *storage.Record) { r.Due = time.Time{} }, 5)
	check("waiting no more", []storage.ID{3, 4, 1}, []storage.ID{5, 2})
	set(3, func(r *storage.Record) { r.State = storage.Fetched }, 4)
	set(5, func(r *storage.Record) { r.State = storage.Failed }, 3)
	check("settled", []storage.ID{4, 1}, []storage.ID{2})
	set(3, func(r *storage.Record) { r.State = storage.Queued }, 4)
	check("queued again", []storage.ID{3, 4, 1}, []storage.ID{2})

	view(t, s, func(tx *storage.Tx) {
		got := make(map[storage.ID]storage.State)
		for id, r := range tx.Records(2) {
			got[id] = r.State
		}
		want := map[storage.ID]storage.State{3: storage.Queued, 4: storage.Queued, 5: storage.Failed, 6: storage.Queued}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Records(2): -want +got:\n%s", diff)
		}
	})
}

func TestHostsHaveNumbersOfTheirOwn(t *testing.T) {
	s := newStore(t)
	numbers := make(map[uint32]string)
	for _, name := range []string{"b", "a", "c"} {
		update(t, s, func(tx *storage.Tx) {
			h, err := tx.Host(name)
			must(t, err)
			if h.ID == 0 || numbers[h.ID] != "" {
				t.Errorf("number of %s: got %d, given are %v", name, h.ID, numbers)
			}
			numbers[h.ID] = name
			must(t, tx.SetHost(name, h))
		})
	}
	view(t, s, func(tx *storage.Tx) {
		got := make(map[uint32]string)
		var order []string
		for name, h := range tx.Hosts() {
			got[h.ID] = name
			order = append(order, name)
		}
		if !maps.Equal(got, numbers) || !slices.Equal(order, []string{"a", "b", "c"}) {
			t.Errorf("Hosts: got %v in order %v, want %v by name", got, order, numbers)
		}
		if h, err := tx.Host("unknown"); err != nil || h != (storage.Host{}) {
			t.Errorf("an unknown host in a read transaction: got %+v, %v, want the zero Host", h, err)
		}
	})
}

func TestSmallTablesKeepWhatTheyAreGiven(t *testing.T) {
	s := newStore(t)
	update(t, s, func(tx *storage.Tx) {
		mustAdmit(t, tx, "h", "http://h/", queued)
		mustAdmit(t, tx, "h", "http://h/2", queued)
		for _, key := range []string{"b", "a", "c"} {
			must(t, tx.SetRefusal(key, storage.Refusal{Reason: "scope", Detail: key}))
		}
		must(t, tx.DeleteRefusal("c"))
		must(t, tx.DeleteRefusal("never refused"))
		must(t, tx.MarkRelink(2))
		must(t, tx.MarkRelink(1))
		must(t, tx.MarkRelink(2))
		for i, href := range []string{"http://h/", "http://h/x", "http://h/"} {
			fresh, err := tx.AddAnchor(href)
			if err != nil || fresh != (i < 2) {
				t.Errorf("AddAnchor(%s), call %d: got %v, %v", href, i, fresh, err)
			}
		}
		must(t, tx.SetMeta("format", []byte("the caller's")))
	})
	view(t, s, func(tx *storage.Tx) {
		for after, want := range map[string][]string{"": {"a", "b"}, "a": {"b"}, "aa": {"b"}, "b": nil, "z": nil} {
			var got []string
			for key, r := range tx.Refusals(after) {
				if r.Detail != key {
					t.Errorf("refusal of %s: got that of %s", key, r.Detail)
				}
				got = append(got, key)
			}
			if !slices.Equal(got, want) {
				t.Errorf("Refusals(%q): got %q, want %q", after, got, want)
			}
		}
		if _, found, err := tx.Refusal("c"); found || err != nil {
			t.Errorf("a refusal that was deleted: got %v, %v", found, err)
		}
		if _, found, err := tx.Robots("http://h"); found || err != nil {
			t.Errorf("a robots.txt never got: got %v, %v", found, err)
		}
		if links, err := tx.Links(1); links != nil || err != nil {
			t.Errorf("links never kept: got %v, %v", links, err)
		}
		if got := slices.Collect(tx.Relinks()); !slices.Equal(got, []storage.ID{1, 2}) {
			t.Errorf("Relinks: got %v, want 1 and 2", got)
		}
		if got := slices.Collect(tx.Anchors()); !slices.Equal(got, []string{"http://h/", "http://h/x"}) {
			t.Errorf("Anchors: got %q", got)
		}
		if got := tx.Meta("format"); string(got) != "the caller's" {
			t.Errorf("Meta: got %q", got)
		}
		if got := tx.Meta("seed"); got != nil {
			t.Errorf("Meta of a name of our own: got %q, want nil", got)
		}
	})
	update(t, s, func(tx *storage.Tx) { must(t, tx.UnmarkRelink(2)) })
	view(t, s, func(tx *storage.Tx) {
		if got := slices.Collect(tx.Relinks()); !slices.Equal(got, []storage.ID{1}) {
			t.Errorf("Relinks after UnmarkRelink(2): got %v, want 1", got)
		}
	})
}

func dump(t *testing.T, s *storage.Store) map[string]string {
	t.Helper()
	tables := make(map[string]string)
	view(t, s, func(tx *storage.Tx) {
		for _, table := range strings.Fields("log index records queue later hosts refused links relink robots anchors meta") {
			must(t, tx.Raw(table).ForEach(func(k, v []byte) error {
				tables[table+" "+string(k)] = string(v)
				return nil
			}))
		}
	})
	return tables
}

func TestAnUpdateThatFailsLeavesNoTrace(t *testing.T) {
	s := newStore(t)
	update(t, s, func(tx *storage.Tx) { mustAdmit(t, tx, "h", "http://h/", queued) })
	before, commits := dump(t, s), s.Commits()

	attempt := func(end func() error) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("panic: %v", r)
			}
		}()
		return s.Update(func(tx *storage.Tx) error {
			tx.OnCommit(func() { t.Error("OnCommit is called though nothing was committed") })
			mustAdmit(t, tx, "h", "http://h/2", queued)
			must(t, tx.SetRecord(1, 1, storage.Record{State: storage.Fetched}))
			must(t, tx.SetMeta("x", []byte("y")))
			return end()
		})
	}
	if err := attempt(func() error { return errStop }); !errors.Is(err, errStop) {
		t.Errorf("got %v, want the function's error", err)
	}
	if err := attempt(func() error { panic("a bug") }); err == nil || err.Error() != "panic: a bug" {
		t.Errorf("got %v, want the function's panic", err)
	}
	var none *storage.Record
	if err := attempt(func() error { none.Depth++; return nil }); err == nil || errors.Is(err, storage.ErrDamaged) {
		t.Errorf("got %v, want the function's panic", err)
	}
	if diff := cmp.Diff(before, dump(t, s)); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
	if got := s.Commits(); got != commits {
		t.Errorf("Commits: got %d, want %d as before", got, commits)
	}
}

func TestOnCommitComesAfterTheCommit(t *testing.T) {
	s := newStore(t)
	called := 0
	update(t, s, func(tx *storage.Tx) {
		mustAdmit(t, tx, "h", "http://h/", queued)
		tx.OnCommit(func() {
			called++
			view(t, s, func(tx *storage.Tx) {
				if _, found := tx.Find("http://h/"); !found {
					t.Error("OnCommit is called before the change can be read")
				}
			})
		})
		if called != 0 {
			t.Error("OnCommit is called at once")
		}
	})
	if called != 1 {
		t.Errorf("OnCommit: got %d calls, want 1", called)
	}
	if got := s.Commits(); got != 1 {
		t.Errorf("Commits: got %d, want 1", got)
	}
}

func TestAfterACommitThatFailedTheStoreTakesNoMoreWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, storage.Options{})
	update(t, s, func(tx *storage.Tx) { mustAdmit(t, tx, "h", "http://h/", queued) })
	must(t, s.FailCommits())
	for range 2 {
		err := s.Update(func(tx *storage.Tx) error {
			tx.OnCommit(func() { t.Error("OnCommit is called though the commit failed") })
			_, err := admit(tx, "h", "http://h/2", queued)
			return err
		})
		if err == nil {
			t.Fatal("Update: got nil, want an error")
		}
	}
	view(t, s, func(tx *storage.Tx) { // still reads
		if _, found := tx.Find("http://h/"); !found {
			t.Error("what was committed cannot be read")
		}
	})
	_ = s.Close() // its file is closed already
	s = open(t, path, storage.Options{})
	defer s.Close()
	must(t, s.Check())
	view(t, s, func(tx *storage.Tx) {
		if got := tx.Last(); got != 1 {
			t.Errorf("Last: got %d, want 1", got)
		}
	})
}

// Iterators have no error to return.
func TestWhatAnIteratorCannotReadFailsTheTransaction(t *testing.T) {
	for table, read := range map[string]func(*storage.Tx){
		"log":     func(tx *storage.Tx) { count2(tx.Log(0)) },
		"records": func(tx *storage.Tx) { count2(tx.Records(0)) },
		"hosts":   func(tx *storage.Tx) { count2(tx.Hosts()) },
		"refused": func(tx *storage.Tx) { count2(tx.Refusals("")) },
		"index":   func(tx *storage.Tx) { tx.Find("http://a.example/") },
	} {
		t.Run(table, func(t *testing.T) {
			s := damaged(t, func(tx *storage.Tx) {
				k, _ := tx.Raw(table).Cursor().First()
				must(t, tx.Raw(table).Put(k, []byte("?")))
			})
			for kind, transact := range map[string]func(func(*storage.Tx) error) error{"View": s.View, "Update": s.Update} {
				err := transact(func(tx *storage.Tx) error { read(tx); return nil })
				if !errors.Is(err, storage.ErrDamaged) || !strings.Contains(err.Error(), "store.db") {
					t.Errorf("%s: got %v, want ErrDamaged and the file's name", kind, err)
				}
			}
		})
	}
	for table, read := range map[string]func(*storage.Tx){
		"log":     func(tx *storage.Tx) { tx.Last() },
		"records": func(tx *storage.Tx) { count2(tx.Records(0)) },
		"queue":   func(tx *storage.Tx) { count(tx.Queue(0xff000000)) },
		"later":   func(tx *storage.Tx) { count2(tx.Later(0xff000000)) },
		"relink":  func(tx *storage.Tx) { count(tx.Relinks()) },
	} {
		t.Run("key of "+table, func(t *testing.T) {
			s := damaged(t, func(tx *storage.Tx) {
				must(t, tx.Raw(table).Put([]byte("\xff\x00\x00\x00?"), []byte{1}))
			})
			err := s.View(func(tx *storage.Tx) error { read(tx); return errStop })
			if !errors.Is(err, storage.ErrDamaged) || !errors.Is(err, errStop) {
				t.Errorf("got %v, want ErrDamaged and the function's error", err)
			}
		})
	}
}

func count2[K, V any](seq func(func(K, V) bool)) (n int) {
	for range seq {
		n++
	}
	return n
}

func count[V any](seq func(func(V) bool)) (n int) {
	for range seq {
		n++
	}
	return n
}

// damaged returns a store with a little of everything in which plant has changed tables behind their backs.
func damaged(t *testing.T, plant func(*storage.Tx)) *storage.Store {
	t.Helper()
	s := open(t, filepath.Join(t.TempDir(), "store.db"), storage.Options{NoSync: true})
	t.Cleanup(func() { must(t, s.Close()) })
	fill(t, s)
	must(t, s.Check())
	update(t, s, plant)
	return s
}

func TestCheckFindsWhatIsPlanted(t *testing.T) {
	id := func(n byte) []byte { return []byte{0, 0, 0, 0, 0, 0, 0, n} }
	setHost := func(tx *storage.Tx, name string, change func(*storage.Host)) {
		h, err := tx.Host(name)
		must(t, err)
		change(&h)
		must(t, tx.SetHost(name, h))
	}
	for name, tt := range map[string]struct {
		plant func(*storage.Tx)
		want  string
	}{
		"a gap in the log":                   {func(tx *storage.Tx) { must(t, tx.Raw("log").Delete(id(2))) }, "log: 3 follows 1"},
		"a log entry that cannot be read":    {func(tx *storage.Tx) { must(t, tx.Raw("log").Put(id(2), []byte("?"))) }, "a log entry that cannot be read"},
		"a key that leads elsewhere":         {func(tx *storage.Tx) { must(t, tx.Raw("index").Put([]byte("http://b.example/"), id(1))) }, `index: "http://b.example/" leads to 1, the log has it at 3`},
		"a key that is missing":              {func(tx *storage.Tx) { must(t, tx.Raw("index").Delete([]byte("http://b.example/"))) }, "leads to 0"},
		"a key too many":                     {func(tx *storage.Tx) { must(t, tx.Raw("index").Put([]byte("http://z/"), id(1))) }, "index: 5 keys, the log has 4"},
		"a URL without a record":             {func(tx *storage.Tx) { must(t, tx.Raw("records").Delete(id(4))) }, "URL 4 has no record"},
		"a record that cannot be read":       {func(tx *storage.Tx) { must(t, tx.Raw("records").Put(id(4), []byte{1, 9})) }, "records: 4: damaged: a record"},
		"a record without a URL":             {func(tx *storage.Tx) { must(t, tx.SetRecord(5, 1, storage.Record{State: storage.Failed})) }, "records: 5, the log has 4"},
		"a URL that is admitted and refused": {func(tx *storage.Tx) { must(t, tx.SetRefusal("http://b.example/", storage.Refusal{})) }, `refused: "http://b.example/" is admitted as 3`},
		"a refusal that cannot be read":      {func(tx *storage.Tx) { must(t, tx.Raw("refused").Put([]byte("k"), []byte("?"))) }, "a refusal that cannot be read"},
		"a queued URL in no queue":           {func(tx *storage.Tx) { emptyTable(t, tx.Raw("queue")) }, "a.example counts 1 queued URLs, its queues hold 0"},
		"a waiting URL in no queue":          {func(tx *storage.Tx) { emptyTable(t, tx.Raw("later")) }, "b.example counts 1 queued URLs, its queues hold 0"},
		"a settled URL in a queue": {func(tx *storage.Tx) {
			must(t, tx.Raw("queue").Put(append([]byte{0, 0, 0, 1, 0, 0, 0, 0}, id(1)...), nil))
		}, "URL 1 stands where its record (fetched"},
		"a URL in a queue twice": {func(tx *storage.Tx) {
			must(t, tx.Raw("queue").Put(append([]byte{0, 0, 0, 1, 0, 0, 0, 9}, id(2)...), nil))
		}, "URL 2 stands where"},
		"a URL in the queue of an unknown host": {func(tx *storage.Tx) {
			must(t, tx.Raw("queue").Put(append([]byte{0, 0, 0, 8, 0, 0, 0, 0}, id(1)...), nil))
		}, "queues: 3 URLs, 2 of them of known hosts"},
		"a queue key that cannot be read": {func(tx *storage.Tx) { must(t, tx.Raw("queue").Put([]byte{0, 0, 0, 1}, nil)) }, "queues: 00000001: damaged"},
		"a queued URL that is not in the log": {func(tx *storage.Tx) {
			must(t, tx.Raw("later").Put(append(append([]byte{0, 0, 0, 2}, id(1)...), id(9)...), nil))
		}, "URL 9 has no record"},
		"a queued record of a settled host":     {func(tx *storage.Tx) { must(t, tx.Raw("records").Put(id(4), tx.Raw("records").Get(id(2)))) }, "queues: -1 URLs more than records say"},
		"a host that counts parked URLs wrong":  {func(tx *storage.Tx) { setHost(tx, "b.example", func(h *storage.Host) { h.Parked = 0 }) }, "b.example counts 0 parked URLs, its queues hold 1"},
		"a host that counts its queue wrong":    {func(tx *storage.Tx) { setHost(tx, "a.example", func(h *storage.Host) { h.Queued = 7 }) }, "a.example counts 7 queued URLs, its queues hold 1"},
		"a host that counts its URLs wrong":     {func(tx *storage.Tx) { setHost(tx, "a.example", func(h *storage.Host) { h.Admitted = 7 }) }, "they count 9 admitted URLs, the log has 4"},
		"two hosts of one number":               {func(tx *storage.Tx) { must(t, tx.SetHost("z", storage.Host{ID: 1})) }, "a.example and z are both number 1"},
		"a host of a number yet to be given":    {func(tx *storage.Tx) { must(t, tx.SetHost("z", storage.Host{ID: 100})) }, "z has the number 100"},
		"a host that cannot be read":            {func(tx *storage.Tx) { must(t, tx.Raw("hosts").Put([]byte("z"), []byte("?"))) }, "a host that cannot be read"},
		"links that cannot be read":             {func(tx *storage.Tx) { must(t, tx.Raw("links").Put(id(2), []byte{1, 4})) }, "links: 2: damaged: a list of links"},
		"links of no URL":                       {func(tx *storage.Tx) { must(t, tx.SetLinks(9, nil)) }, "links: of URL 9"},
		"a page to be linked again that is not": {func(tx *storage.Tx) { must(t, tx.MarkRelink(9)) }, "relink: URL 9"},
		"a robots.txt that cannot be read":      {func(tx *storage.Tx) { must(t, tx.Raw("robots").Put([]byte("o"), []byte("?"))) }, "robots: o: damaged"},
		"a key of relink that cannot be read":   {func(tx *storage.Tx) { must(t, tx.Raw("relink").Put([]byte("?"), nil)) }, "a URL number that cannot be read"},
		"a key of the log that cannot be read":  {func(tx *storage.Tx) { must(t, tx.Raw("log").Put([]byte("?"), nil)) }, "a URL number that cannot be read"},
		"an index entry that cannot be read":    {func(tx *storage.Tx) { must(t, tx.Raw("index").Put([]byte("http://b.example/"), nil)) }, "a URL number that cannot be read"},
		"more than is told":                     {func(tx *storage.Tx) { plantMany(t, tx) }, "and 30 more"},
	} {
		t.Run(name, func(t *testing.T) {
			err := damaged(t, tt.plant).Check()
			if !errors.Is(err, storage.ErrDamaged) || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("got %v\nwant ErrDamaged: %s", err, tt.want)
			}
		})
	}
}

func plantMany(t *testing.T, tx *storage.Tx) {
	for n := range 50 {
		must(t, tx.MarkRelink(storage.ID(100+n)))
	}
}

func emptyTable(t *testing.T, table *bbolt.Bucket) {
	for k, _ := table.Cursor().First(); k != nil; k, _ = table.Cursor().First() {
		must(t, table.Delete(k))
	}
}

func TestCheckIsSilentOnASoundStore(t *testing.T) {
	s := newStore(t)
	must(t, s.Check())
	fill(t, s)
	must(t, s.Check())
	update(t, s, func(tx *storage.Tx) {
		for n := range 5000 { // branch pages
			mustAdmit(t, tx, fmt.Sprint("host", n%50), fmt.Sprint("http://h/", n), queued)
		}
		must(t, tx.SetMeta("long", make([]byte, 100_000))) // further pages
	})
	must(t, s.Check())
	must(t, s.View(func(*storage.Tx) error { return s.View(func(*storage.Tx) error { return nil }) }))
}
