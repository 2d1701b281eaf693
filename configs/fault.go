package configs

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Fault is one thing that is wrong in a configuration file.
type Fault struct {
	File         string // as it was given to Load or Parse
	Line, Column int    // of the faulty key or value, counted from 1, columns in characters
	Key          string // the path of the key, such as "politeness.default.delay"; empty for the file as a whole
	Problem      string // what is wrong, the key named
	Remedy       string // what to write instead; may be empty
}

// Error returns the fault on one line: `crawl.yaml:7:5: unknown key "dely" in politeness.default; did you mean "delay"?`.
func (f *Fault) Error() string {
	var b strings.Builder
	if f.Line > 0 {
		fmt.Fprintf(&b, "%s:%d:%d: ", f.File, f.Line, f.Column)
	}
	b.WriteString(f.Problem)
	if f.Remedy != "" {
		b.WriteString("; " + f.Remedy)
	}
	return b.String()
}

// wrong is the fault of a value, still without its place.
func wrong(remedy, format string, args ...any) *Fault {
	return &Fault{Problem: fmt.Sprintf(format, args...), Remedy: remedy}
}

// unreadable returns the first character that cannot stand in a YAML file, nil if there is none.
func unreadable(text []byte) *Fault {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return &Fault{Line: 1, Column: 1, Problem: "the file is UTF-16", Remedy: "save it as UTF-8"}
	}
	line, column := 1, 1
	for i := 0; i < len(text); {
		c, n := utf8.DecodeRune(text[i:])
		switch {
		case c == utf8.RuneError && n == 1:
			return &Fault{Line: line, Column: column, Problem: fmt.Sprintf("the byte %#02x is not UTF-8", text[i]), Remedy: "save the file as UTF-8"}
		case unicode.IsControl(c) && !strings.ContainsRune("\t\n\r\u0085", c):
			return &Fault{Line: line, Column: column, Problem: fmt.Sprintf("the control character %U is not allowed", c), Remedy: "remove it"}
		case c == '\n':
			line, column = line+1, 1
		case c != '\ufeff' || i > 0:
			column++
		}
		i += n
	}
	return nil
}

// syntax records an error of the YAML parser.
func (r *reader) syntax(text []byte, err error) {
	e, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		r.fault(&yaml.Node{}, "", "not YAML: "+err.Error(), "")
		return
	}
	problem := "not YAML: " + e.Message
	if e.ContextMsg != "" && e.ContextMark.Line > 0 && e.ContextMark.Line != e.Mark.Line {
		problem += fmt.Sprintf(" (%s that begins on line %d)", e.ContextMsg, e.ContextMark.Line)
	}
	var remedy string
	switch at := characterAt(text, e.Mark.Line, e.Mark.Column); {
	case at == '\t':
		problem, remedy = "not YAML: a tab where a key or value should begin", "indent with spaces"
	case strings.ContainsRune("@`%", at):
		remedy = "write the value in quotes"
	case strings.HasPrefix(e.Message, "mapping values are not allowed"):
		remedy = `write a value that contains ": " in quotes`
	}
	r.fault(&yaml.Node{Line: e.Mark.Line, Column: e.Mark.Column}, "", problem, remedy)
}

// characterAt returns the character at a position, 0 outside the text.
func characterAt(text []byte, line, column int) rune {
	lines := bytes.Split(text, []byte("\n"))
	if line < 1 || line > len(lines) {
		return 0
	}
	if chars := []rune(string(lines[line-1])); column >= 1 && column <= len(chars) {
		return chars[column-1]
	}
	return 0
}

// nearest returns the candidate that name was probably meant to be, and whether there is one: the first of those with
// the least edit distance, if that is at most a third of the name.
func nearest(name string, candidates []string) (string, bool) {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	best, least := "", max(1, utf8.RuneCountInString(name)/3)+1
	for _, c := range candidates {
		if d := distance([]rune(name), []rune(c)); d < least {
			best, least = c, d
		}
	}
	return best, best != ""
}

// distance is the number of characters inserted, left out, exchanged, or swapped with their neighbour between a and b
// (optimal string alignment).
func distance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			exchange := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				exchange++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, exchange)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
