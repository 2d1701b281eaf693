package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// key is one key of a mapping that is read into a C.
type key[C any] struct {
	name string
	// read stores what stands at a node in c; path is the key's own.
	read func(r *reader, path string, n *yaml.Node, c *C)
	// entry describes the key, with the values of c as defaults.
	entry func(c *C) entry
}

// entry is a key as the default file and the JSON schema show it.
type entry struct {
	name   string
	doc    string // lines of text
	schema schema
	value  any     // the default, as JSON has it; nil in a section
	keys   []entry // of a section
}

// schema is a JSON schema.
type schema map[string]any

// value is a key whose value is kept in a field of C.
func value[C, T any](name, doc string, of kind[T], field func(*C) *T) key[C] {
	return key[C]{
		name: name,
		read: func(r *reader, path string, n *yaml.Node, c *C) {
			if v, ok := of.read(r, path, n); ok {
				*field(c) = v
			}
		},
		entry: func(c *C) entry {
			return entry{name: name, doc: doc, schema: of.schema, value: of.plain(*field(c))}
		},
	}
}

// reserved is a key of a feature that is not part of this version. Its value is checked and not kept. A refusal that is
// not empty is what is said of any value but the default.
func reserved[C any, T comparable](name, doc string, of kind[T], standard T, refusal string) key[C] {
	return key[C]{
		name: name,
		read: func(r *reader, path string, n *yaml.Node, _ *C) {
			if v, ok := of.read(r, path, n); ok && v != standard && refusal != "" {
				r.fault(n, path, path+": "+refusal, fmt.Sprintf("leave %s %s", path, cmp.Or(fmt.Sprint(of.plain(standard)), "empty")))
			}
		},
		entry: func(*C) entry {
			return entry{name: name, doc: doc, schema: of.schema, value: of.plain(standard)}
		},
	}
}

// section is a key whose value is a mapping of further keys. An empty section leaves the defaults.
func section[C any](name, doc string, keys ...key[C]) key[C] {
	return key[C]{
		name: name,
		read: func(r *reader, path string, n *yaml.Node, c *C) {
			if !isNull(n) {
				readMapping(r, path, n, c, keys)
			}
		},
		entry: func(c *C) entry { return entry{name: name, doc: doc, keys: entries(c, keys)} },
	}
}

// within makes the keys of a part of C keys of C.
func within[C, P any](part func(*C) *P, keys []key[P]) []key[C] {
	lifted := make([]key[C], len(keys))
	for i, k := range keys {
		lifted[i] = key[C]{
			name:  k.name,
			read:  func(r *reader, path string, n *yaml.Node, c *C) { k.read(r, path, n, part(c)) },
			entry: func(c *C) entry { return k.entry(part(c)) },
		}
	}
	return lifted
}

func entries[C any](c *C, keys []key[C]) []entry {
	list := make([]entry, len(keys))
	for i, k := range keys {
		list[i] = k.entry(c)
	}
	return list
}

// readMapping reads the mapping n into c, in the order of keys.
func readMapping[C any](r *reader, path string, n *yaml.Node, c *C, keys []key[C]) {
	values, ok := r.pairs(path, n)
	if !ok {
		return
	}
	for _, k := range keys {
		for _, p := range values {
			if p.name == k.name {
				k.read(r, join(path, k.name), p.value, c)
			}
		}
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	for _, p := range values {
		if !slices.Contains(names, p.name) {
			r.unknown(path, p, names)
		}
	}
}

// pair is a key of a file and its value.
type pair struct {
	name       string
	key, value *yaml.Node
}

// pairs returns the keys of a mapping and their values, in the order of the file; a key that stands there twice is a
// fault, and so is a node that is not a mapping.
func (r *reader) pairs(path string, n *yaml.Node) ([]pair, bool) {
	if !r.enter(n, path) {
		return nil, false
	}
	if n.Kind != yaml.MappingNode {
		problem, remedy := "want a mapping of keys, got "+describe(n), ""
		if path != "" {
			problem = path + ": " + problem
		} else {
			remedy = "write key: value"
		}
		r.fault(n, path, problem, remedy)
		return nil, false
	}
	var list []pair
	lines := make(map[string]int)
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.ShortTag() == "!!merge" {
			r.fault(k, path, "merge keys (<<) are not supported", "write the keys out")
			continue
		}
		if !r.enter(k, path) {
			continue
		}
		if k.Kind != yaml.ScalarNode {
			r.fault(k, path, "a key must be a name, got "+describe(k), "")
			continue
		}
		if line, twice := lines[k.Value]; twice {
			r.fault(k, join(path, k.Value), fmt.Sprintf("%s is already set on line %d", join(path, k.Value), line), "keep one")
		} else {
			lines[k.Value] = k.Line
		}
		list = append(list, pair{k.Value, k, n.Content[i+1]})
	}
	return list, true
}

// unknown records that a mapping has no key of p's name, with what may have been meant: a key of the same mapping, else
// one of another.
func (r *reader) unknown(path string, p pair, names []string) {
	problem := fmt.Sprintf("unknown key %q", p.name)
	if path != "" {
		problem += " in " + path
	}
	var guesses []string
	if guess, ok := nearest(p.name, names); ok {
		guesses = []string{strconv.Quote(guess)}
	} else {
		guesses = elsewhere(p.name)
	}
	remedy := "the keys here are " + strings.Join(names, ", ")
	if len(guesses) > 0 {
		remedy = fmt.Sprintf("did you mean %s?", alternatives(guesses))
	}
	r.fault(p.key, join(path, p.name), problem, remedy)
}

// elsewhere returns the paths, in quotes, of the keys of the whole table whose own name is nearest to name.
func elsewhere(name string) []string {
	var names []string
	paths := make(map[string][]string)
	var walk func(path string, list []entry)
	walk = func(path string, list []entry) {
		for _, e := range list {
			own := join(path, e.name)
			names = append(names, e.name)
			paths[e.name] = append(paths[e.name], strconv.Quote(own))
			walk(own, e.keys)
		}
	}
	c := Default()
	walk("", entries(&c, keys()))
	guess, _ := nearest(name, names)
	return paths[guess]
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
