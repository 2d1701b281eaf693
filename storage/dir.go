package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// Errors of opening a data directory or a store.
var (
	// ErrInUse means that the data directory, or a file of it, is open elsewhere.
	ErrInUse = errors.New("in use")
	// ErrDamaged means that a file of the data directory cannot be trusted.
	ErrDamaged = errors.New("damaged")
	// ErrNoCrawl means that the directory holds no crawl.
	ErrNoCrawl = errors.New("no crawl here")
	// ErrFormat means that the data directory was written by a version this one does not know.
	ErrFormat = errors.New("unknown format")
	// ErrUnwritable means that the data directory cannot be written.
	ErrUnwritable = errors.New("not writable")
)

// explain names the file or directory that an error is about and, where its user can do something, says what.
func explain(name string, err error) error {
	switch {
	case errors.Is(err, ErrDamaged):
		return fmt.Errorf("%s: %w; restore a copy of the data directory, or start again in another one", name, err)
	case errors.Is(err, ErrInUse):
		return fmt.Errorf("%s: %w: another crawler runs on it; stop that one, or use another data directory", name, err)
	case errors.Is(err, ErrFormat):
		return fmt.Errorf("%s: %w; use the version of the crawler that wrote it", name, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// FormatVersion is the version of the data directory's layout that this package writes.
const FormatVersion = 1

const (
	lockFile  = "lock"
	crawlFile = "crawl.json"
)

// Dir is a node's data directory. A Dir opened for writing excludes every other.
type Dir struct {
	path     string
	root     *os.Root
	lock     *flock.Flock
	readOnly bool
	desc     Description
	stores   []*Store
}

// CreateDir opens the data directory at path for writing, and makes it, with the given number of partitions, if it is
// not there. It fails with ErrInUse, ErrDamaged, ErrFormat or ErrUnwritable.
func CreateDir(path string, partitions int) (*Dir, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("data directory: %w", unwritable(err))
	}
	return openDir(path, false, func(d *Dir) error {
		err := d.load()
		if errors.Is(err, ErrNoCrawl) {
			return d.create(max(partitions, 1))
		}
		if err != nil {
			return err
		}
		return d.openStores()
	})
}

// OpenDir opens an existing data directory for reading only. It fails with ErrNoCrawl, ErrInUse, ErrDamaged or ErrFormat.
func OpenDir(path string) (*Dir, error) {
	return openDir(path, true, func(d *Dir) error {
		if err := d.load(); err != nil {
			return err
		}
		return d.openStores()
	})
}

// openDir locks the directory and has open read or make what is in it.
func openDir(path string, readOnly bool, open func(*Dir) error) (*Dir, error) {
	root, err := os.OpenRoot(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, explain(path, ErrNoCrawl)
	}
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", unwritable(err))
	}
	d := &Dir{path: path, root: root, readOnly: readOnly}
	if err = d.takeLock(); err != nil {
		err = explain(path, err)
	} else {
		err = open(d)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Dir) takeLock() error {
	flag, try := os.O_CREATE|os.O_RDONLY, (*flock.Flock).TryLock
	if d.readOnly {
		flag, try = os.O_RDONLY, (*flock.Flock).TryRLock
	}
	d.lock = flock.New(filepath.Join(d.path, lockFile), flock.SetFlag(flag))
	held, err := try(d.lock)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNoCrawl
	case err != nil:
		return unwritable(err)
	case !held:
		return ErrInUse
	}
	return nil
}

// create makes the stores and then crawl.json, whose presence says that the stores were made: from then on a store that
// is missing or empty is damage. What an earlier, interrupted create left is taken up if it holds no URL.
func (d *Dir) create(partitions int) error {
	d.desc = Description{Format: FormatVersion, Created: time.Now().UTC().Truncate(time.Second), Partitions: partitions}
	if err := d.checkPartitions(); err != nil {
		return err
	}
	for n := range partitions {
		if err := d.root.MkdirAll(filepath.Dir(storeFile(n)), 0o755); err != nil {
			return explain(d.path, unwritable(err))
		}
		s, err := d.openStore(n)
		if err != nil {
			return err
		}
		d.stores = append(d.stores, s)
		var last ID
		if err := s.View(func(tx *Tx) error { last = tx.Last(); return nil }); err != nil {
			return err
		}
		if last > 0 {
			return explain(d.path, fmt.Errorf("%w: it holds URLs but no %s", ErrDamaged, crawlFile))
		}
		if err := d.syncDir(filepath.Dir(storeFile(n))); err != nil {
			return explain(d.path, err)
		}
	}
	if err := d.syncDir("p"); err != nil {
		return explain(d.path, err)
	}
	return d.save()
}

// checkPartitions reports stores beyond the partitions that there should be.
func (d *Dir) checkPartitions() error {
	found, err := fs.Glob(d.root.FS(), "p/*/store.db")
	if err != nil {
		return explain(d.path, err)
	}
	if len(found) > d.desc.Partitions {
		return explain(d.path, fmt.Errorf("%w: %d stores where there should be %d", ErrDamaged, len(found), d.desc.Partitions))
	}
	return nil
}

// unwritable marks an error that says that the file system or its permissions refuse writing.
func unwritable(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: %w", ErrUnwritable, err)
	}
	return err
}

func (d *Dir) load() error {
	text, err := d.root.ReadFile(crawlFile)
	d.desc, err = parseDescription(d.path, text, err)
	return err
}

// save replaces crawl.json as a whole: after a crash it is the old file or the new one.
func (d *Dir) save() error {
	text, err := json.MarshalIndent(d.desc, "", "  ")
	if err != nil {
		return explain(d.path, err)
	}
	if err := d.replaceFile(crawlFile, append(text, '\n')); err != nil {
		return explain(d.path, unwritable(err))
	}
	return nil
}

func (d *Dir) replaceFile(name string, text []byte) error {
	f, err := d.root.Create(name + ".tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := d.root.Rename(name+".tmp", name); err != nil {
		return err
	}
	return d.syncDir(".")
}

func (d *Dir) syncDir(name string) error {
	f, err := d.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (d *Dir) openStores() error {
	if err := d.checkPartitions(); err != nil {
		return err
	}
	for n := range d.desc.Partitions {
		// bbolt would make a new file of one that is missing or empty.
		info, err := d.root.Stat(storeFile(n))
		if errors.Is(err, fs.ErrNotExist) || (err == nil && info.Size() == 0) {
			return explain(filepath.Join(d.path, storeFile(n)), fmt.Errorf("%w: missing or empty", ErrDamaged))
		}
		s, err := d.openStore(n)
		if err != nil {
			return err
		}
		d.stores = append(d.stores, s)
	}
	return nil
}

func storeFile(n int) string { return fmt.Sprintf("p/%04d/store.db", n) }

func (d *Dir) openStore(n int) (*Store, error) {
	return OpenStore(filepath.Join(d.path, storeFile(n)), Options{
		ReadOnly: d.readOnly,
		OpenFile: func(_ string, flag int, perm os.FileMode) (*os.File, error) {
			return d.root.OpenFile(storeFile(n), flag, perm)
		},
	})
}

// Path returns the path that the directory was opened by.
func (d *Dir) Path() string { return d.path }

// Description returns what crawl.json says.
func (d *Dir) Description() Description { return d.desc }

// Stores returns the store of each partition, in order.
func (d *Dir) Stores() []*Store { return d.stores }

// SaveSettings keeps the caller's settings in crawl.json.
func (d *Dir) SaveSettings(settings json.RawMessage) error {
	if d.readOnly {
		return explain(d.path, fmt.Errorf("%w: opened for reading only", ErrUnwritable))
	}
	d.desc.Settings = settings
	return d.save()
}

// Size returns the bytes that the partition files take on disk.
func (d *Dir) Size() int64 {
	var sum int64
	for _, s := range d.stores {
		sum += s.Size()
	}
	return sum
}

// Close closes the stores and lets go of the lock.
func (d *Dir) Close() error {
	var errs []error
	for _, s := range d.stores {
		errs = append(errs, s.Close())
	}
	errs = append(errs, d.lock.Close(), d.root.Close())
	return errors.Join(errs...)
}
