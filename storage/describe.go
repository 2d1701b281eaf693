package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Describe returns what crawl.json says of the crawl in the data directory at path, without opening the directory. It fails
// with ErrNoCrawl or ErrDamaged.
func Describe(path string) (Description, error) {
	name := filepath.Join(path, crawlFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Description{}, fmt.Errorf("data directory %s: %w", path, ErrNoCrawl)
	}
	if err != nil {
		return Description{}, fmt.Errorf("data directory: %w", err)
	}
	var d Description
	if err := json.Unmarshal(text, &d); err != nil {
		return Description{}, fmt.Errorf("%s: %w: %w", name, ErrDamaged, err)
	}
	return d, nil
}
