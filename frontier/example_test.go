package frontier_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"crawler/frontier"
	"crawler/normalize"
	"crawler/storage"
)

func Example() {
	if err := example(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// http://example.com/ at depth 0
	// http://example.com/about at depth 1
	// nothing is left
}

func example() (err error) {
	dir, err := os.MkdirTemp("", "frontier")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := storage.OpenStore(filepath.Join(dir, "store.db"), storage.Options{})
	if err != nil {
		return err
	}
	defer store.Close()

	polite := frontier.DefaultPoliteness()
	polite.Delay = 0 // the host is one's own
	f := frontier.New(frontier.Config{Rules: frontier.Rules{Default: polite}})
	if err := f.Attach(0, store); err != nil {
		return err
	}
	// admit appends a URL to the log and queues it, all in the transaction of b.
	admit := func(tx *storage.Tx, b *frontier.Batch, href string, depth int) error {
		u, err := normalize.Parse(href)
		if err != nil {
			return err
		}
		id, err := tx.Append(string(u.Key()), u.String())
		if err != nil {
			return err
		}
		return b.Admit(id, frontier.Link{URL: u, Depth: depth})
	}
	err = store.Update(func(tx *storage.Tx) error {
		b := f.Begin(0, tx)
		if err := admit(tx, b, "http://example.com/", 0); err != nil {
			return err
		}
		return b.End()
	})
	if err != nil {
		return err
	}
	for !f.Idle() {
		lease, err := f.Next(context.Background())
		if err != nil {
			return err
		}
		fmt.Println(lease.URL, "at depth", lease.Record.Depth)
		outcome := frontier.Outcome{Verdict: frontier.Settled, Status: 200, End: time.Now()} // of the fetch
		err = store.Update(func(tx *storage.Tx) error {
			b := f.Begin(lease.Partition, tx)
			record, _, err := b.Finish(lease.ID, lease.Host, outcome)
			if err != nil {
				return err
			}
			if record.Depth == 0 { // a link that was found on the page
				if err := admit(tx, b, "http://example.com/about", record.Depth+1); err != nil {
					return err
				}
			}
			return b.End()
		})
		if err != nil {
			return err
		}
	}
	fmt.Println("nothing is left")
	return f.Detach(0)
}
