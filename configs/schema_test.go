package configs_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"testing"

	"go.yaml.in/yaml/v4"

	"crawler/configs"
)

func TestTheSchemaAcceptsTheShippedFiles(t *testing.T) {
	names, err := fs.Glob(configs.Shipped(), "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(configs.Shipped(), name)
		if err != nil {
			t.Fatal(err)
		}
		if faults := schemaFaults(t, text); len(faults) > 0 {
			t.Errorf("%s: %q", name, faults)
		}
	}
}

func TestTheSchemaRefusesWhatParseRefuses(t *testing.T) {
	for _, text := range []string{
		"dely: 1s",
		"politeness: {default: {dely: 1s}}",
		"politeness: {domains: [{match: a.example, dely: 1s}]}",
		"politeness: {domains: [{delay: 1s}]}",
		"concurrency: many",
		"concurrency: 0",
		"concurrency: 1.5",
		"scope: 5",
		"scope: {default: hosts}",
		"scope: {max_depth: -2}",
		"scope: {exclude: [5]}",
		"network: {timeout: 5}",
		"network: {timeout: 5 minutes}",
		"network: {http2: maybe}",
		"network: {allow: 127.0.0.1}",
		"network: {resolve: {a.example: 5}}",
		"limits: {max_body: 10XB}",
		"seen: {target_fpr: 0}",
		"seen: {rebuild_at: 1}",
		"user_agent: 5",
	} {
		if _, err := configs.Parse("c.yaml", []byte(text)); err == nil {
			t.Errorf("Parse accepts %s", text)
		}
		if faults := schemaFaults(t, []byte(text)); len(faults) != 1 {
			t.Errorf("the schema finds %q in %s, want one fault", faults, text)
		}
	}
}

func TestTheSchemaAcceptsWhatParseAccepts(t *testing.T) {
	for _, text := range []string{
		"scope:", "scope: {include: }", "headers: {A: b}", "network: {http2: off, timeout: 1h30m, resolve: {a.example: 192.0.2.1}}",
		"network: {timeout: 1.5s}", "limits: {max_body: 512k, min_free_disk: 1.5 GiB}", "politeness: {domains: [{match: a.example, hours: \"\"}]}",
		"seen: {target_fpr: 0.5, headroom: 1}",
	} {
		if _, err := configs.Parse("c.yaml", []byte(text)); err != nil {
			t.Errorf("Parse: %v", err)
		}
		if faults := schemaFaults(t, []byte(text)); len(faults) > 0 {
			t.Errorf("the schema finds %q in %s", faults, text)
		}
	}
}

// schemaFaults validates a YAML text against configs.Schema.
func schemaFaults(t *testing.T, text []byte) []string {
	t.Helper()
	var s map[string]any
	if err := json.Unmarshal(configs.Schema(), &s); err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := yaml.Load(text, &doc); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(asJSON, &doc); err != nil {
		t.Fatal(err)
	}
	return validate(t, "", s, doc)
}

// validate knows the keywords that configs.Schema uses, and fails the test at any other.
func validate(t *testing.T, path string, s map[string]any, v any) (faults []string) {
	t.Helper()
	fault := func(format string, args ...any) { faults = append(faults, path+": "+fmt.Sprintf(format, args...)) }
	number, isNumber := v.(float64)
	text, isText := v.(string)
	mapping, _ := v.(map[string]any)
	for keyword, arg := range s {
		switch keyword {
		case "$schema", "title", "description", "default", "format", "properties":
		case "type":
			types, several := arg.([]any)
			if !several {
				types = []any{arg}
			}
			if !slices.ContainsFunc(types, func(name any) bool { return hasType(v, name.(string)) }) {
				fault("%v is no %v", v, arg)
			}
		case "enum":
			if !slices.Contains(arg.([]any), v) {
				fault("%v is none of %v", v, arg)
			}
		case "pattern":
			if isText && !regexp.MustCompile(arg.(string)).MatchString(text) {
				fault("%s does not match %s", text, arg)
			}
		case "minimum":
			if isNumber && number < arg.(float64) {
				fault("%v is less than %v", v, arg)
			}
		case "maximum":
			if isNumber && number > arg.(float64) {
				fault("%v is more than %v", v, arg)
			}
		case "exclusiveMinimum":
			if isNumber && number <= arg.(float64) {
				fault("%v is not more than %v", v, arg)
			}
		case "required":
			for _, name := range arg.([]any) {
				if _, ok := mapping[name.(string)]; mapping != nil && !ok {
					fault("%v is missing", name)
				}
			}
		case "items":
			items, _ := v.([]any)
			for i, item := range items {
				faults = append(faults, validate(t, fmt.Sprintf("%s[%d]", path, i), arg.(map[string]any), item)...)
			}
		case "additionalProperties":
			properties, _ := s["properties"].(map[string]any)
			for name, value := range mapping {
				if property, ok := properties[name]; ok {
					faults = append(faults, validate(t, path+"."+name, property.(map[string]any), value)...)
				} else if others, ok := arg.(map[string]any); ok {
					faults = append(faults, validate(t, path+"."+name, others, value)...)
				} else {
					fault("unknown key %s", name)
				}
			}
		default:
			t.Fatalf("the schema uses the keyword %s, which this test does not know", keyword)
		}
	}
	return faults
}

func hasType(v any, name string) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == float64(int64(v))
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}
