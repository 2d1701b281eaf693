package crawl

import (
	"fmt"

	"crawler/fetcher/robots"
	"crawler/frontier"
	"crawler/normalize"
	"crawler/storage"
)

// View is what can be told of a crawl: of one that runs, or of the data directory of one that does not.
type View struct {
	dir        *storage.Dir
	scope      *judge
	agent      string
	politeness frontier.Rules
	live       *Crawl // nil for a data directory alone
}

// OpenView opens the data directory at path for reading. The scope, politeness and user agent of cfg are those by which
// URLs are explained.
func OpenView(path string, cfg Config) (*View, error) {
	cfg = cfg.withDefaults()
	dir, err := storage.OpenDir(path)
	if err != nil {
		return nil, err
	}
	v := &View{dir: dir, scope: newJudge(cfg.Scope), agent: robots.ProductToken(cfg.Fetch.UserAgent), politeness: cfg.Politeness}
	for _, store := range dir.Stores() {
		anchors, err := readAnchors(store)
		if err != nil {
			return nil, fmt.Errorf("%w; closing: %w", err, dir.Close())
		}
		v.scope.add(anchors...)
	}
	return v, nil
}

// View returns a view of an open crawl. It ends with the crawl and need not be closed.
func (c *Crawl) View() *View {
	return &View{dir: c.dir, scope: c.scope, agent: c.agent, politeness: c.frontier.Rules(), live: c}
}

// Stats returns a snapshot.
func (v *View) Stats() (Stats, error) {
	if v.live != nil {
		return v.live.Stats(), nil
	}
	return storedStats(v.dir)
}

// Settings returns what SaveSettings kept in the data directory, nil for nothing.
func (v *View) Settings() []byte { return v.dir.Description().Settings }

// Close lets go of the data directory.
func (v *View) Close() error { return v.dir.Close() }

func (v *View) partitionOf(host string) int { return partitionOf(host, len(v.dir.Stores())) }

// url returns the URL that a Ref names, "" for the zero Ref.
func (v *View) url(ref storage.Ref) (href string, err error) {
	if ref.ID == 0 {
		return "", nil
	}
	stores := v.dir.Stores()
	if ref.Partition < 0 || ref.Partition >= len(stores) {
		return "", fmt.Errorf("%w: partition %d of %d", storage.ErrDamaged, ref.Partition, len(stores))
	}
	err = stores[ref.Partition].View(func(tx *storage.Tx) (err error) {
		_, href, err = tx.URL(ref.ID)
		return err
	})
	return href, err
}

// record returns the record that a Ref names.
func (v *View) record(ref storage.Ref) (r storage.Record, err error) {
	err = v.dir.Stores()[ref.Partition].View(func(tx *storage.Tx) (err error) {
		r, err = tx.Record(ref.ID)
		return err
	})
	return r, err
}

// find returns where an admitted URL stands.
func (v *View) find(u normalize.URL) (ref storage.Ref, r storage.Record, ok bool, err error) {
	ref.Partition = v.partitionOf(u.Host())
	err = v.dir.Stores()[ref.Partition].View(func(tx *storage.Tx) (err error) {
		if ref.ID, ok = tx.Find(string(u.Key())); ok {
			r, err = tx.Record(ref.ID)
		}
		return err
	})
	return ref, r, ok, err
}
