package configs_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"crawler/configs"
)

// FuzzParse holds that a text is either refused with faults that have a place, or makes a valid configuration.
func FuzzParse(f *testing.F) {
	names, err := fs.Glob(configs.Shipped(), "*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(configs.Shipped(), name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	faulty, err := os.ReadFile("testdata/faulty.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(faulty)
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := configs.Parse("c.yaml", text)
		if err == nil {
			if err := c.Crawl.Validate(); err != nil {
				t.Errorf("Parse passed what is not valid: %v", err)
			}
			return
		}
		for _, e := range joined(t, err) {
			if fault, ok := errors.AsType[*configs.Fault](e); !ok || fault.Line < 1 || fault.Column < 1 || fault.Problem == "" {
				t.Errorf("%#v is not a complete *Fault", e)
			}
		}
	})
}
