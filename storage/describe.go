package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Description is what crawl.json says of the crawl in a data directory.
type Description struct {
	Format     int             `json:"format"`
	Created    time.Time       `json:"created"`
	Partitions int             `json:"partitions"`
	Settings   json.RawMessage `json:"settings,omitempty"` // the caller's, for a resume
}

// Describe returns what crawl.json says of the crawl in the data directory at path, without opening the directory. It
// fails with ErrNoCrawl, ErrDamaged or ErrFormat.
func Describe(path string) (Description, error) {
	text, err := os.ReadFile(filepath.Join(path, crawlFile))
	return parseDescription(path, text, err)
}

// parseDescription parses what reading the crawl.json of the directory at path gave.
func parseDescription(path string, text []byte, err error) (Description, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return Description{}, explain(path, fmt.Errorf("%w: it has no %s", ErrNoCrawl, crawlFile))
	}
	if err != nil {
		return Description{}, explain(path, err)
	}
	var d Description
	err = json.Unmarshal(text, &d)
	switch {
	case err != nil:
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	case d.Format < 1 || d.Partitions < 1:
		err = fmt.Errorf("%w: format %d, %d partitions", ErrDamaged, d.Format, d.Partitions)
	case d.Format != FormatVersion:
		err = fmt.Errorf("%w %d, this version reads format %d", ErrFormat, d.Format, FormatVersion)
	default:
		return d, nil
	}
	return Description{}, explain(filepath.Join(path, crawlFile), err)
}
