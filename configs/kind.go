package configs

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// kind is a type of values: how they are read from a file and shown in one.
type kind[T any] struct {
	// read returns the value of a node; if it has none, read has recorded why.
	read func(r *reader, path string, n *yaml.Node) (T, bool)
	// plain returns a value as JSON has it: a string, number, bool, list or map.
	plain  func(T) any
	schema schema
}

// scalarKind is a kind of values that are written as one text. tags are the YAML types that parse is given the text of;
// others are refused as not being what want names.
func scalarKind[T any](want string, tags []string, parse func(text string) (T, error), plain func(T) any, s schema) kind[T] {
	read := func(r *reader, path string, n *yaml.Node) (v T, ok bool) {
		if !r.enter(n, path) {
			return v, false
		}
		if isNull(n) {
			r.fault(n, path, path+": there is no value", "write "+want+" or remove the key")
			return v, false
		}
		if n.Kind != yaml.ScalarNode || !slices.Contains(tags, n.ShortTag()) {
			r.fault(n, path, fmt.Sprintf("%s: want %s, got %s", path, want, describe(n)), remedyFor(n, tags))
			return v, false
		}
		v, err := parse(n.Value)
		if err != nil {
			r.bad(n, path, err)
			return v, false
		}
		return v, true
	}
	return kind[T]{read: read, plain: plain, schema: s}
}

// bad records that a value is faulty; err may be a *Fault without a place.
func (r *reader) bad(n *yaml.Node, path string, err error) {
	problem, remedy := err.Error(), ""
	if f, ok := errors.AsType[*Fault](err); ok {
		problem, remedy = f.Problem, f.Remedy
	}
	r.fault(n, path, path+": "+problem, remedy)
}

// The YAML types of scalars that kinds read.
var (
	texts   = []string{"!!str"}
	numbers = []string{"!!int", "!!float"}
	// anyText is for texts that YAML may take for something else: 5, on, 2026-01-01.
	anyText = []string{"!!str", "!!int", "!!float", "!!bool", "!!timestamp"}
)

// describe names what a node is.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!bool":
		return "the truth value " + n.Value
	case "!!timestamp":
		return "the date " + n.Value
	}
	return fmt.Sprintf("the text %q", n.Value)
}

// remedyFor says how a scalar of the wrong YAML type becomes one of the right type, where that is a matter of quotes.
func remedyFor(n *yaml.Node, tags []string) string {
	if n.Kind != yaml.ScalarNode {
		return ""
	}
	if slices.Contains(tags, "!!str") {
		return fmt.Sprintf("write %q in quotes", n.Value)
	}
	if _, err := strconv.ParseFloat(n.Value, 64); err == nil {
		return "write it without quotes"
	}
	return ""
}

// ranged narrows a kind to the values for which ok holds; want names them, and bounds are added to the schema.
func ranged[T any](k kind[T], want string, ok func(T) bool, bounds schema) kind[T] {
	read := k.read
	k.read = func(r *reader, path string, n *yaml.Node) (T, bool) {
		v, valid := read(r, path, n)
		if valid && !ok(v) {
			r.fault(n, path, fmt.Sprintf("%s: %s is out of range", path, n.Value), "write "+want)
			return v, false
		}
		return v, valid
	}
	s := make(schema)
	for _, from := range []schema{k.schema, bounds} {
		for name, v := range from {
			s[name] = v
		}
	}
	k.schema = s
	return k
}

// option is one word for a value.
type option[T comparable] struct {
	word  string
	value T
}

// choice is a kind with a word for each value, of which the first is the one that is shown.
func choice[T comparable](options ...option[T]) kind[T] {
	words := make([]string, len(options))
	for i, o := range options {
		words[i] = o.word
	}
	parse := func(text string) (T, error) {
		i := slices.Index(words, strings.ToLower(text))
		if i < 0 {
			var none T
			remedy := ""
			if guess, ok := nearest(text, words); ok {
				remedy = fmt.Sprintf("did you mean %q?", guess)
			}
			return none, wrong(remedy, "%q is not one of %s", text, strings.Join(words, ", "))
		}
		return options[i].value, nil
	}
	plain := func(v T) any {
		return options[slices.IndexFunc(options, func(o option[T]) bool { return o.value == v })].word
	}
	return scalarKind(alternatives(words), anyText, parse, plain, schema{"enum": words})
}

// alternatives joins words as "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// list is the kind of lists of a kind.
func list[T any](of kind[T]) kind[[]T] {
	read := func(r *reader, path string, n *yaml.Node) ([]T, bool) {
		items, ok := r.items(path, n)
		var values []T
		for i, item := range items {
			v, valid := of.read(r, fmt.Sprintf("%s[%d]", path, i), item)
			values, ok = append(values, v), ok && valid
		}
		return values, ok
	}
	plain := func(values []T) any {
		plains := make([]any, len(values))
		for i, v := range values {
			plains[i] = of.plain(v)
		}
		return plains
	}
	return kind[[]T]{read, plain, schema{"type": []string{"array", "null"}, "items": of.schema}}
}

// items returns the elements of a list. No value is an empty list.
func (r *reader) items(path string, n *yaml.Node) ([]*yaml.Node, bool) {
	if !r.enter(n, path) {
		return nil, false
	}
	if isNull(n) {
		return nil, true
	}
	if n.Kind != yaml.SequenceNode {
		remedy := ""
		if n.Kind == yaml.ScalarNode {
			remedy = fmt.Sprintf("write [%s]", scalar(n.Value))
		}
		r.fault(n, path, fmt.Sprintf("%s: want a list, got %s", path, describe(n)), remedy)
		return nil, false
	}
	return n.Content, true
}

// dictionary is the kind of mappings with free names. canonical returns the one form of a name or why it is none.
func dictionary[T any](of kind[T], canonical func(name string) (string, error)) kind[map[string]T] {
	read := func(r *reader, path string, n *yaml.Node) (map[string]T, bool) {
		if isNull(n) {
			return nil, true
		}
		pairs, ok := r.pairs(path, n)
		if len(pairs) == 0 {
			return nil, ok
		}
		values, first := make(map[string]T), make(map[string]pair)
		for _, p := range pairs {
			key := join(path, p.name)
			name, err := canonical(p.name)
			if err != nil {
				r.bad(p.key, key, err)
				ok = false
				continue
			}
			if f, twice := first[name]; !twice {
				first[name] = p
			} else if f.name != p.name {
				r.fault(p.key, key, fmt.Sprintf("%s is already set on line %d, as %s", key, f.key.Line, f.name), "keep one")
			}
			v, valid := of.read(r, key, p.value)
			values[name], ok = v, ok && valid
		}
		return values, ok
	}
	plain := func(values map[string]T) any {
		plains := make(map[string]any)
		for name, v := range values {
			plains[name] = of.plain(v)
		}
		return plains
	}
	return kind[map[string]T]{read, plain, schema{"type": []string{"object", "null"}, "additionalProperties": of.schema}}
}

// converted is the kind of values of type U that are written as values of type T are.
func converted[T, U any](k kind[T], to func(T) U, from func(U) T) kind[U] {
	return kind[U]{
		read: func(r *reader, path string, n *yaml.Node) (u U, ok bool) {
			v, ok := k.read(r, path, n)
			if ok {
				u = to(v)
			}
			return u, ok
		},
		plain:  func(u U) any { return k.plain(from(u)) },
		schema: k.schema,
	}
}
