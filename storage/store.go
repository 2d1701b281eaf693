package storage

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// Options says how a partition file is opened. The zero value opens it for writing on the file system.
type Options struct {
	ReadOnly bool
	// NoSync leaves out the sync at the end of a commit: faster, and not durable. For tests and benchmarks.
	NoSync bool
	// OpenFile replaces os.OpenFile.
	OpenFile func(name string, flag int, perm os.FileMode) (*os.File, error)
}

// The tables of a partition, each a bbolt bucket, in the order of newTx.
var (
	tableLog     = []byte("log")     // ID -> key, href
	tableIndex   = []byte("index")   // key -> ID
	tableRecords = []byte("records") // ID -> Record
	tableQueue   = []byte("queue")   // host, depth, ID -> nothing
	tableLater   = []byte("later")   // host, due, ID -> nothing
	tableHosts   = []byte("hosts")   // host name -> Host
	tableRefused = []byte("refused") // key -> Refusal
	tableLinks   = []byte("links")   // ID -> the links found on the page
	tableRelink  = []byte("relink")  // ID -> nothing: pages whose links are to be offered again
	tableRobots  = []byte("robots")  // origin -> Robots
	tableAnchors = []byte("anchors") // key -> nothing: URLs from which scope is measured
	tableMeta    = []byte("meta")

	tables = [][]byte{
		tableLog, tableIndex, tableRecords, tableQueue, tableLater, tableHosts,
		tableRefused, tableLinks, tableRelink, tableRobots, tableAnchors, tableMeta,
	}
)

var (
	metaFormat = []byte("format")
	metaSeed   = []byte("seed")
)

// mmapSize is the address space reserved for a partition file at the start: 16 GiB, or 1 GiB where addresses are short. A file
// that outgrows it makes a writer wait for every reader, so it is generous; only address space is taken, not memory.
const mmapSize = 1 << (30 + (strconv.IntSize-32)/8)

// initialMmapSize returns mmapSize, but on Windows, where a file is made as large as its mapping, what bbolt begins with.
func initialMmapSize() int {
	if runtime.GOOS == "windows" {
		return 0
	}
	return mmapSize
}

// Store is the file of one partition. It is safe for concurrent use: one writer at a time, any number of readers.
type Store struct {
	path    string
	file    *os.File // that db has open
	db      *bbolt.DB
	seed    uint64
	commits atomic.Uint64

	write  sync.Mutex // held by the writer
	broken error      // of the commit that failed; guarded by write
}

// lockTimeout bounds the wait for the lock that bbolt itself takes on the file.
const lockTimeout = time.Second

// OpenStore opens the partition file at path and, unless it is read only, makes it if it is not there. A file that is
// not a whole bbolt file with our tables fails with ErrDamaged, one of another version with ErrFormat, one that is open
// for writing elsewhere with ErrInUse.
func OpenStore(path string, opt Options) (_ *Store, err error) {
	s := &Store{path: path}
	open := opt.OpenFile
	if open == nil {
		open = os.OpenFile
	}
	// bbolt panics, and a mapped file cut short faults, where a page does not hold what another promises.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = damage(r)
		}
		if err != nil {
			err = explain(path, errors.Join(err, s.closeFailed()))
		}
	}()
	s.db, err = bbolt.Open(path, 0o644, &bbolt.Options{
		ReadOnly:        opt.ReadOnly,
		NoSync:          opt.NoSync,
		PreLoadFreelist: true, // Check needs it, and here its pages are read under guard
		InitialMmapSize: initialMmapSize(),
		Timeout:         lockTimeout,
		OpenFile: func(name string, flag int, perm os.FileMode) (*os.File, error) {
			f, err := open(name, flag, perm)
			s.file = f
			return f, err
		},
	})
	if err != nil {
		return nil, openError(err)
	}
	if opt.ReadOnly {
		err = s.db.View(s.load)
	} else {
		err = s.db.Update(s.init)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// closeFailed lets go of a file that could not be opened as a store. After a panic of bbolt only the file is left to close.
func (s *Store) closeFailed() error {
	if s.db != nil {
		return s.db.Close()
	}
	if s.file == nil {
		return nil
	}
	unlock(s.file)
	if err := s.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

func openError(err error) error {
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("%w: %w", ErrInUse, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if _, refused := errors.AsType[syscall.Errno](err); refused {
		return unwritable(err)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err) // bbolt does not like what it has read
}

// init makes the tables of a new file, or loads those of an old one.
func (s *Store) init(tx *bbolt.Tx) error {
	if meta := tx.Bucket(tableMeta); meta != nil {
		return s.load(tx)
	}
	if c := tx.Cursor(); first(c) != nil {
		return fmt.Errorf("%w: a bbolt file, but not a crawl's", ErrDamaged)
	}
	for _, name := range tables {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	var seed [8]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return err
	}
	s.seed = binary.BigEndian.Uint64(seed[:])
	meta := tx.Bucket(tableMeta)
	return errors.Join(meta.Put(metaFormat, []byte{FormatVersion}), meta.Put(metaSeed, seed[:]))
}

func first(c *bbolt.Cursor) []byte {
	k, _ := c.First()
	return k
}

func (s *Store) load(tx *bbolt.Tx) error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < tx.Size() {
		return fmt.Errorf("%w: cut short, it has %d of %d bytes", ErrDamaged, info.Size(), tx.Size())
	}
	meta := tx.Bucket(tableMeta)
	if meta == nil {
		return fmt.Errorf("%w: a bbolt file, but not a crawl's", ErrDamaged)
	}
	if v := meta.Get(metaFormat); len(v) != 1 || v[0] != FormatVersion {
		return fmt.Errorf("%w %v; this version reads format %d", ErrFormat, v, FormatVersion)
	}
	seed := meta.Get(metaSeed)
	if len(seed) != 8 {
		return fmt.Errorf("%w: no hash seed", ErrDamaged)
	}
	if _, err := newTx(tx); err != nil {
		return err
	}
	s.seed = binary.BigEndian.Uint64(seed)
	return nil
}

// HashSeed returns the number that seeds hashes of keys. It is random and fixed when the file is made, so that nobody
// outside can tell which keys hash alike. That keeps keys from being aimed at a filter; it does not rule out equal hashes.
func (s *Store) HashSeed() uint64 { return s.seed }

// Update runs fn in the one write transaction there can be. When Update returns nil the changes are durable; when fn
// fails nothing has changed. When the commit fails, as on a full disk, the changes may or may not be there, and the
// store takes no more writes: which it is shows when it is opened anew.
func (s *Store) Update(fn func(*Tx) error) error {
	s.write.Lock()
	defer s.write.Unlock()
	if s.broken != nil {
		return fmt.Errorf("not written after a failed commit: %w", s.broken)
	}
	committing := false
	err := s.run(func(fn func(*bbolt.Tx) error) error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			err := fn(tx)
			committing = err == nil
			return err
		})
	}, fn)
	switch {
	case err == nil:
		s.commits.Add(1)
	case committing:
		s.broken = err
	}
	return err
}

// View runs fn in a read transaction. A long one keeps the file from reusing space.
func (s *Store) View(fn func(*Tx) error) error { return s.run(s.db.View, fn) }

// run turns the panics and faults by which a damaged page shows into ErrDamaged. Other panics of fn pass through.
func (s *Store) run(transact func(func(*bbolt.Tx) error) error, fn func(*Tx) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if !isDamage(r) {
				panic(r)
			}
			err = explain(s.path, damage(r))
		}
	}()
	err = transact(func(tx *bbolt.Tx) error {
		t, err := newTx(tx)
		if err != nil {
			return err
		}
		return t.do(fn)
	})
	if errors.Is(err, ErrDamaged) {
		return explain(s.path, err)
	}
	return err
}

// damage returns the error that a recovered panic stands for.
func damage(r any) error {
	if _, ok := r.(runtime.Error); ok { // its words are about memory
		return fmt.Errorf("%w: a page of the file cannot be read", ErrDamaged)
	}
	return fmt.Errorf("%w: %v", ErrDamaged, r)
}

// isDamage reports whether a recovered panic is a fault of mapped memory or was raised inside bbolt. It is called from
// the deferred function that recovered.
func isDamage(r any) bool {
	if _, ok := r.(interface{ Addr() uintptr }); ok {
		return true
	}
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "runtime.") {
			return strings.HasPrefix(frame.Function, "go.etcd.io/bbolt")
		}
		if !more {
			return false
		}
	}
}

// Commits returns the number of write transactions since the store was opened.
func (s *Store) Commits() uint64 { return s.commits.Load() }

// Size returns the size of the file in bytes, as of the last commit.
func (s *Store) Size() int64 {
	var size int64
	_ = s.db.View(func(tx *bbolt.Tx) error { size = tx.Size(); return nil }) // fails only when closed: then 0
	return size
}

// Close waits for transactions to end and closes the file.
func (s *Store) Close() error { return s.db.Close() }
