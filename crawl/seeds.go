package crawl

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"crawler/normalize"
)

// Seed is a URL from which a crawl starts.
type Seed struct {
	URL normalize.URL
	// Fallback says that the seed was written without a scheme: URL has https, and http is tried should that not answer.
	Fallback bool
}

// SeedFault is a line of a seeds file that is not a URL.
type SeedFault struct {
	File string
	Line int
	Text string
	Err  error
}

// Error names the file, the line and the fault.
func (f *SeedFault) Error() string { return fmt.Sprintf("%s:%d: %v", f.File, f.Line, f.Err) }

// Unwrap returns the fault.
func (f *SeedFault) Unwrap() error { return f.Err }

// ReadSeeds reads seeds, one a line. Blank lines and lines that begin with # say nothing. It returns the good seeds, a
// fault for every other line, and the error of r. The name is that of the file, for the faults.
func ReadSeeds(name string, r io.Reader) (seeds []Seed, faults []*SeedFault, err error) {
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return seeds, faults, fmt.Errorf("%s: %w", name, err)
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if text := strings.TrimSpace(string(line)); text != "" && text[0] != '#' {
			if seed, err := ParseSeed(text); err == nil {
				seeds = append(seeds, seed)
			} else {
				faults = append(faults, &SeedFault{File: name, Line: n, Text: text, Err: err})
			}
		}
		if err == io.EOF {
			return seeds, faults, nil
		}
	}
}

// ParseSeed reads a URL as a person writes it: without a scheme it means https, and http should that not answer.
func ParseSeed(text string) (Seed, error) {
	if !hasScheme(text) {
		u, err := normalize.Parse("https://" + strings.TrimLeft(text, "/"))
		return Seed{URL: u, Fallback: true}, err
	}
	u, err := normalize.Parse(text)
	return Seed{URL: u}, err
}

// hasScheme tells a scheme from a host with a port: in "example.org:8080/" digits follow the colon.
func hasScheme(text string) bool {
	scheme, rest, ok := strings.Cut(text, ":")
	if !ok || strings.ContainsAny(scheme, "./?#[@ ") {
		return false
	}
	return rest == "" || rest[0] < '0' || rest[0] > '9'
}
