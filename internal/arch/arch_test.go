// Package arch_test holds the shape of the module: which package may import which. It parses the sources rather than
// asking go list, because the test cache then sees the files it depends on.
package arch_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const module = "crawler"

// anything stands in mayImport for every package of the module.
const anything = "*"

// mayImport says which packages of the module each of its packages may import. Tests are free.
var mayImport = map[string][]string{
	"normalize":      {},
	"extract":        {},
	"fetcher/robots": {},
	"storage/warc":   {},

	"storage":  {"storage/warc"},
	"fetcher":  {"normalize", "fetcher/robots"},
	"seen":     {"normalize", "storage"},
	"frontier": {"normalize", "storage"},

	"crawl":     {"normalize", "extract", "fetcher", "fetcher/robots", "seen", "frontier", "storage"},
	"cluster":   {"normalize", "frontier", "storage"},
	"dashboard": {"crawl"},

	"configs":     {"crawl", "fetcher", "frontier", "seen"}, // for their Config types
	"cmd/crawler": {anything},

	"internal/arch":    {},
	"internal/cases":   {},
	"internal/testweb": {},
}

// onlyIn says of modules of others which one package may import them, tests included.
var onlyIn = map[string]string{
	"github.com/prometheus": "dashboard",
}

// noNames are names that say nothing of what a package holds.
var noNames = []string{"util", "utils", "common", "types", "models", "pkg", "helpers"}

func TestThePackagesKeepTheImportTable(t *testing.T) {
	files, err := sources(os.DirFS(filepath.Join("..", "..")))
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults(files) {
		t.Error(fault)
	}
	present := make(map[string]bool)
	for _, f := range files {
		present[f.dir] = true
	}
	if len(present) < 5 {
		t.Errorf("found the packages %v only: the test does not see the module", present)
	}
}

func TestWhatTheTableForbidsIsFound(t *testing.T) {
	tests := []struct {
		name, path, text, want string
	}{
		{"an import that is in the table", "seen/x.go", `package seen; import "crawler/normalize"`, ""},
		{"an import that is not", "normalize/x.go", `package normalize; import "crawler/crawl"`, "normalize/x.go:1:27: normalize may not import crawl"},
		{"the same in a test", "normalize/x_test.go", `package normalize_test; import "crawler/crawl"`, ""},
		{"a command imports anything", "cmd/crawler/x.go", `package main; import "crawler/storage/warc"`, ""},
		{"a package that is not in the table", "fancy/x.go", `package fancy`, "fancy/x.go:1:1: the package fancy is not in the import table"},
		{"a package without a meaning", "util/x_test.go", `package util`, "util/x_test.go:1:1: util says nothing of what the package holds"},
		{"a folder without a meaning", "pkg/seen/x_test.go", `package seen`, "pkg/seen/x_test.go:1:1: pkg says nothing of what the package holds"},
		{"a metrics library in dashboard", "dashboard/x.go", `package dashboard; import "github.com/prometheus/client_golang/prometheus"`, ""},
		{"a metrics library elsewhere", "crawl/x.go", `package crawl; import "github.com/prometheus/client_golang/prometheus"`, "crawl/x.go:1:23: only dashboard may import github.com/prometheus"},
		{"a metrics library in a test elsewhere", "crawl/x_test.go", `package crawl; import "github.com/prometheus/client_golang/prometheus"`, "crawl/x_test.go:1:23: only dashboard may import github.com/prometheus"},
		{"an init function", "seen/x.go", "package seen\nfunc init() {}", "seen/x.go:2:1: init functions are not used here"},
		{"a method of that name", "seen/x.go", "package seen\ntype t int\nfunc (t) init() {}", ""},
		{"another module below this one", "tools/x/x.go", `package util; import "crawler/crawl"`, ""},
		{"test data", "seen/testdata/x.go", `package util`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files, err := sources(fstest.MapFS{
				tt.path:          {Data: []byte(tt.text)},
				"tools/x/go.mod": {Data: []byte("module x")},
			})
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			if tt.want != "" {
				want = []string{tt.want}
			}
			if diff := cmp.Diff(want, faults(files), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// source is one parsed file.
type source struct {
	path, dir string // dir is that of the file, "." for the root
	file      *ast.File
	fset      *token.FileSet
}

// sources parses the Go files of a module, those of other modules below it and of test data left out.
func sources(module fs.FS) ([]source, error) {
	var list []source
	err := fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			base := path.Base(name)
			_, err := fs.Stat(module, path.Join(name, "go.mod"))
			if name != "." && (err == nil || base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(module, name)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		list = append(list, source{name, path.Dir(name), file, fset})
		return nil
	})
	return list, err
}

// faults returns what the files do that they may not.
func faults(files []source) (list []string) {
	for _, f := range files {
		at := func(n ast.Node, format string, args ...any) {
			list = append(list, f.fset.Position(n.Pos()).String()+": "+fmt.Sprintf(format, args...))
		}
		test := strings.HasSuffix(f.path, "_test.go")
		for _, name := range noNames {
			if slices.Contains(strings.Split(f.dir, "/"), name) || strings.TrimSuffix(f.file.Name.Name, "_test") == name {
				at(f.file, "%s says nothing of what the package holds", name)
			}
		}
		allowed, known := mayImport[f.dir]
		if !known && !test {
			at(f.file, "the package %s is not in the import table", f.dir)
		}
		for _, spec := range f.file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				at(spec, "%v", err)
			}
			for other, dir := range onlyIn {
				if within(imported, other) && f.dir != dir {
					at(spec, "only %s may import %s", dir, other)
				}
			}
			if !within(imported, module) || !known || test || slices.Contains(allowed, anything) {
				continue
			}
			if ours := strings.TrimPrefix(imported, module+"/"); !slices.Contains(allowed, ours) {
				at(spec, "%s may not import %s", f.dir, ours)
			}
		}
		for _, decl := range f.file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				at(fn, "init functions are not used here")
			}
		}
	}
	return list
}

// within says whether an import path is that of a module or of a package in it.
func within(imported, module string) bool {
	return imported == module || strings.HasPrefix(imported, module+"/")
}
