// Package cases reads third-party test cases, which are kept in a folder beside the repository and not in it: JSON lines, one
// case each. A test that asks for cases which are not there is skipped; what they taught is in the tests' own tables as well.
package cases

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// folder is where cases are, from the directory of go.mod.
const folder = "../shared/cases"

// Read returns the cases of a file, named by its path in the folder of cases.
func Read[T any](t testing.TB, name string) []T {
	t.Helper()
	f, err := os.Open(filepath.Join(moduleRoot(t), filepath.FromSlash(folder), filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the third-party cases %s are not beside the repository", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c T
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s:%d: %v", name, len(all)+1, err)
		}
		all = append(all, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(all) == 0 {
		t.Fatalf("%s: no cases", name)
	}
	return all
}

// moduleRoot returns the directory of go.mod.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the package")
		}
		dir = filepath.Dir(dir)
	}
}
