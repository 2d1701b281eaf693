package storage_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"crawler/storage"
)

func create(t testing.TB, path string, partitions int) *storage.Dir {
	t.Helper()
	d, err := storage.CreateDir(path, partitions)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// newDir makes a data directory of two partitions with URLs in both, and closes it.
func newDir(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made", "crawl")
	d := create(t, path, 2)
	for _, s := range d.Stores() {
		fill(t, s)
	}
	must(t, d.Close())
	return path
}

func TestADataDirectoryIsMadeOnceAndOpenedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "crawl")
	start := time.Now().Truncate(time.Second)
	d := create(t, path, 2)
	if d.Path() != path || len(d.Stores()) != 2 || d.Size() == 0 {
		t.Errorf("got path %s, %d stores, %d bytes", d.Path(), len(d.Stores()), d.Size())
	}
	if got := d.Stores(); got[0].HashSeed() == got[1].HashSeed() {
		t.Error("both stores have the same hash seed")
	}
	fill(t, d.Stores()[1])
	must(t, d.SaveSettings(json.RawMessage(`{"depth":3}`)))
	must(t, d.Close())

	for name, open := range map[string]func() (*storage.Dir, error){
		"CreateDir": func() (*storage.Dir, error) { return storage.CreateDir(path, 7) },
		"OpenDir":   func() (*storage.Dir, error) { return storage.OpenDir(path) },
	} {
		d, err := open()
		must(t, err)
		desc := d.Description()
		if desc.Format != storage.FormatVersion || desc.Partitions != 2 || desc.Created.Before(start) {
			t.Errorf("%s: description: got %+v", name, desc)
		}
		var settings struct{ Depth int }
		if err := json.Unmarshal(desc.Settings, &settings); err != nil || settings.Depth != 3 {
			t.Errorf("%s: settings: got %s, %v", name, desc.Settings, err)
		}
		for n, s := range d.Stores() {
			must(t, s.Check())
			view(t, s, func(tx *storage.Tx) {
				if got, want := tx.Last(), storage.ID(4*n); got != want {
					t.Errorf("%s: last of partition %d: got %d, want %d", name, n, got, want)
				}
			})
		}
		must(t, d.Close())
	}
}

func TestADirectoryOpenedForReadingIsNotWritten(t *testing.T) {
	path := newDir(t)
	d, err := storage.OpenDir(path)
	must(t, err)
	if err := d.SaveSettings(json.RawMessage(`{}`)); !errors.Is(err, storage.ErrUnwritable) {
		t.Errorf("SaveSettings: got %v, want ErrUnwritable", err)
	}
	if err := d.Stores()[0].Update(func(*storage.Tx) error { return nil }); err == nil {
		t.Error("Update: got nil, want an error")
	}
	must(t, d.Close())
}

// An error message names the file and says what its user can do.
func refused(t *testing.T, err, want error, says ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
		return
	}
	for _, part := range says {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("got %q, want it to say %q", err, part)
		}
	}
	if n := strings.Count(err.Error(), "restore a copy"); n > 1 {
		t.Errorf("got %q, which gives its advice %d times", err, n)
	}
}

func TestADirectoryHasOneWriterOrManyReaders(t *testing.T) {
	path := newDir(t)
	writer := create(t, path, 2)
	_, err := storage.CreateDir(path, 2)
	refused(t, err, storage.ErrInUse, path, "another crawler runs on it")
	_, err = storage.OpenDir(path)
	refused(t, err, storage.ErrInUse, path, "another crawler runs on it")
	if desc, err := storage.Describe(path); err != nil || desc.Partitions != 2 {
		t.Errorf("Describe of a directory in use: got %+v, %v", desc, err)
	}
	must(t, writer.Close())

	first, err := storage.OpenDir(path)
	must(t, err)
	second, err := storage.OpenDir(path)
	must(t, err)
	_, err = storage.CreateDir(path, 2)
	refused(t, err, storage.ErrInUse, path)
	must(t, errors.Join(first.Close(), second.Close()))
	must(t, create(t, path, 2).Close())
}

func TestOpenDirWantsACrawl(t *testing.T) {
	empty := t.TempDir()
	for name, path := range map[string]string{"nothing there": filepath.Join(empty, "none"), "an empty directory": empty} {
		_, err := storage.OpenDir(path)
		refused(t, err, storage.ErrNoCrawl, path)
		if entries, _ := os.ReadDir(empty); len(entries) > 0 {
			t.Errorf("%s: OpenDir has made %v", name, entries)
		}
	}
	path := newDir(t)
	must(t, os.Remove(filepath.Join(path, "crawl.json")))
	_, err := storage.OpenDir(path)
	refused(t, err, storage.ErrNoCrawl, path, "crawl.json")
	_, err = storage.Describe(path)
	refused(t, err, storage.ErrNoCrawl, path, "crawl.json")
}

func TestAFileIsNoDataDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, nil, 0o644))
	if _, err := storage.CreateDir(path, 1); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("CreateDir: got %v, want an error that names %s", err, path)
	}
	if _, err := storage.OpenDir(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("OpenDir: got %v, want an error that names %s", err, path)
	}
}

func TestADamagedDirectoryIsRefused(t *testing.T) {
	const restore = "restore a copy of the data directory, or start again in another one"
	write := func(name, text string) func(string) error {
		return func(path string) error { return os.WriteFile(filepath.Join(path, name), []byte(text), 0o644) }
	}
	remove := func(name string) func(string) error {
		return func(path string) error { return os.RemoveAll(filepath.Join(path, name)) }
	}
	for name, tt := range map[string]struct {
		damage func(path string) error
		want   error
		says   []string
	}{
		"crawl.json is no JSON":           {write("crawl.json", `{"format":`), storage.ErrDamaged, []string{"crawl.json", restore}},
		"crawl.json is empty":             {write("crawl.json", ""), storage.ErrDamaged, []string{"crawl.json", restore}},
		"crawl.json says nothing":         {write("crawl.json", "{}"), storage.ErrDamaged, []string{"crawl.json", restore}},
		"crawl.json has no partitions":    {write("crawl.json", `{"format":1}`), storage.ErrDamaged, []string{"crawl.json", restore}},
		"crawl.json has too few":          {write("crawl.json", `{"format":1,"partitions":1}`), storage.ErrDamaged, []string{"2 stores", restore}},
		"crawl.json has too many":         {write("crawl.json", `{"format":1,"partitions":3}`), storage.ErrDamaged, []string{"p/0002/store.db", restore}},
		"crawl.json is of another format": {write("crawl.json", `{"format":2,"partitions":2}`), storage.ErrFormat, []string{"crawl.json", "format 2", "format 1", "version"}},
		"crawl.json is missing":           {remove("crawl.json"), storage.ErrDamaged, []string{"crawl.json", restore}},
		"a store is missing":              {remove("p/0001/store.db"), storage.ErrDamaged, []string{"p/0001/store.db", restore}},
		"all stores are missing":          {remove("p"), storage.ErrDamaged, []string{"p/0000/store.db", restore}},
		"a store is empty":                {write("p/0001/store.db", ""), storage.ErrDamaged, []string{"p/0001/store.db", restore}},
		"a store is a text":               {write("p/0001/store.db", "hello"), storage.ErrDamaged, []string{"p/0001/store.db", restore}},
		"a store is a long text":          {write("p/0001/store.db", strings.Repeat("hello ", 1<<16)), storage.ErrDamaged, []string{"p/0001/store.db", restore}},
		"a store is zeros":                {write("p/0001/store.db", strings.Repeat("\x00", 1<<16)), storage.ErrDamaged, []string{"p/0001/store.db", restore}},
	} {
		t.Run(name, func(t *testing.T) {
			path := newDir(t)
			must(t, tt.damage(path))
			_, err := storage.CreateDir(path, 2)
			refused(t, err, tt.want, append(tt.says, path)...)
			if name == "crawl.json is missing" {
				return // that is no crawl to OpenDir
			}
			_, err = storage.OpenDir(path)
			refused(t, err, tt.want, append(tt.says, path)...)
			if _, err := storage.Describe(path); err != nil {
				refused(t, err, tt.want, append(tt.says, path)...)
			}
		})
	}
}

func TestWhatAnInterruptedCreationLeftIsTakenUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crawl")
	must(t, create(t, path, 2).Close())
	must(t, os.Remove(filepath.Join(path, "crawl.json")))
	must(t, os.Truncate(filepath.Join(path, "p/0001/store.db"), 0))
	must(t, os.WriteFile(filepath.Join(path, "crawl.json.tmp"), []byte(`{"fo`), 0o644))
	d := create(t, path, 2)
	for _, s := range d.Stores() {
		fill(t, s)
		must(t, s.Check())
	}
	must(t, d.Close())

	// Stores beyond those asked for could hold anything.
	path = filepath.Join(t.TempDir(), "crawl")
	must(t, create(t, path, 2).Close())
	must(t, os.Remove(filepath.Join(path, "crawl.json")))
	_, err := storage.CreateDir(path, 1)
	refused(t, err, storage.ErrDamaged, path)
}

func TestAFailedOpeningLetsGoOfTheDirectory(t *testing.T) {
	path := newDir(t)
	name := filepath.Join(path, "p/0001/store.db")
	sound, err := os.ReadFile(name)
	must(t, err)
	must(t, os.WriteFile(name, []byte("hello"), 0o644))
	if _, err := storage.CreateDir(path, 2); err == nil {
		t.Fatal("a damaged directory is opened")
	}
	must(t, os.WriteFile(name, sound, 0o644))
	must(t, create(t, path, 2).Close())
}

func ExampleCreateDir() {
	path, err := os.MkdirTemp("", "crawl")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(path)
	dir, err := storage.CreateDir(path, 1)
	if err != nil {
		panic(err)
	}
	defer dir.Close()
	err = dir.Stores()[0].Update(func(tx *storage.Tx) error {
		const key = "http://example.org/"
		if _, found := tx.Find(key); found {
			return nil
		}
		host, err := tx.Host("example.org")
		if err != nil {
			return err
		}
		id, err := tx.Append(key, key)
		if err != nil {
			return err
		}
		host.Admitted++
		host.Queued++
		if err := tx.SetRecord(id, host.ID, storage.Record{State: storage.Queued, Seed: true}); err != nil {
			return err
		}
		for id := range tx.Queue(host.ID) {
			_, href, err := tx.URL(id)
			if err != nil {
				return err
			}
			fmt.Println(id, href)
		}
		return tx.SetHost("example.org", host)
	})
	fmt.Println(err, dir.Stores()[0].Check())
	// Output:
	// 1 http://example.org/
	// <nil> <nil>
}
