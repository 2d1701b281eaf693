package configs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// DefaultYAML returns a file that sets every key to its default, with comments that say what the keys mean. Parse makes
// Default of it.
func DefaultYAML() []byte {
	var b bytes.Buffer
	b.WriteString("# Every key of the crawler's configuration, with its default. A file needs to hold only what differs.\n" +
		"# Durations are written as 250ms, 5s, 1m or 2h, sizes as 512k, 10MiB or 1GB.\n")
	c := Default()
	writeEntries(&b, "", entries(&c, keys()))
	return b.Bytes()
}

func writeEntries(b *bytes.Buffer, indent string, list []entry) {
	for _, e := range list {
		if indent == "" {
			b.WriteByte('\n')
		}
		for line := range strings.SplitSeq(e.doc, "\n") {
			fmt.Fprintf(b, "%s# %s\n", indent, line)
		}
		if e.keys == nil {
			fmt.Fprintf(b, "%s%s: %s\n", indent, e.name, scalar(e.value))
			continue
		}
		fmt.Fprintf(b, "%s%s:\n", indent, e.name)
		writeEntries(b, indent+"  ", e.keys)
	}
}

// scalar returns a plain value as it is written in a YAML file. Lists and mappings are in flow style.
func scalar(v any) string {
	if s, ok := v.(string); ok && regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.]*$`).MatchString(s) {
		return s
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // plain values are made of strings, numbers, bools, lists and maps
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Schema returns the JSON schema (draft 2020-12) of the file, for editors. It knows types, words and bounds; what is
// inside a text, such as a regular expression or a network, only Parse checks.
func Schema() []byte {
	c := Default()
	s := object(entries(&c, keys()), true)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Configuration of crawler"
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // as in scalar
	}
	return append(text, '\n')
}

// object returns the schema of a mapping with these keys, with or without their defaults.
func object(list []entry, defaults bool) schema {
	properties := make(schema)
	for _, e := range list {
		s := make(schema)
		if e.keys != nil {
			s = object(e.keys, defaults)
		} else if defaults {
			s["default"] = e.value
		}
		for name, v := range e.schema {
			s[name] = v
		}
		s["description"] = e.doc
		properties[e.name] = s
	}
	return schema{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
}
