package seen_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"crawler/normalize"
	"crawler/seen"
	"crawler/storage"
)

func Example() {
	dir, err := os.MkdirTemp("", "seen")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := storage.OpenStore(filepath.Join(dir, "store.db"), storage.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	gate, err := seen.Open(store, seen.Config{TargetFPR: 0.01}, seen.Counters{})
	if err != nil {
		log.Fatal(err)
	}

	var links []seen.Item
	for _, raw := range []string{"https://example.org/", "https://example.org/a", "HTTPS://EXAMPLE.ORG/a#top"} {
		u, err := normalize.Parse(raw)
		if err != nil {
			log.Fatal(err)
		}
		links = append(links, seen.Item{Key: u.Key(), Href: u.String()})
	}
	var answers []seen.Answer
	err = store.Update(func(tx *storage.Tx) error {
		answers, err = gate.Add(tx, links, answers)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	for i, a := range answers {
		fmt.Println(links[i].Href, a.ID, a.Fresh)
	}
	fmt.Println("lookups saved:", gate.Stats().ExactLookupsAvoided())
	// Output:
	// https://example.org/ 1 true
	// https://example.org/a 2 true
	// https://example.org/a 2 false
	// lookups saved: 2
}
