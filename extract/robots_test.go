package extract_test

import (
	"testing"

	"crawler/extract"
)

func TestRobotsTag(t *testing.T) {
	for _, tt := range []struct {
		name              string
		values            []string
		noIndex, noFollow bool
	}{
		{"no header forbids nothing", nil, false, false},
		{"one directive", []string{"noindex"}, true, false},
		{"directives match in any case", []string{"NoFollow"}, false, true},
		{"a list", []string{"noarchive, noindex,nofollow"}, true, true},
		{"none is both", []string{"none"}, true, true},
		{"several fields add up", []string{"noindex", "nofollow"}, true, true},
		{"all forbids nothing and allows nothing", []string{"all", "noindex"}, true, false},
		{"the agent by name, in any case", []string{"ExampleBot : noindex, nofollow"}, true, true},
		{"another agent is not meant", []string{"otherbot: noindex, nofollow"}, false, false},
		{"an agent whose name begins alike is not meant", []string{"examplebot-news: none"}, false, false},
		{"a name holds up to the next one", []string{"otherbot: none, examplebot: nofollow"}, false, true},
		{"what stands before a name is for all", []string{"noindex, otherbot: nofollow"}, true, false},
		{"a name holds for its own field only", []string{"otherbot: noarchive", "noindex"}, true, false},
		{"a directive with a value is no name", []string{"max-snippet: 20, noindex"}, true, false},
		{"the value of a directive is no directive", []string{"max-image-preview: none"}, false, false},
		{"nor is it behind the agent's name", []string{"examplebot: max-image-preview: none, nofollow"}, false, true},
		{"a date is no name", []string{"unavailable_after: Friday, 25-Jun-10 15:00:00 UTC, noindex"}, true, false},
		{"a date with colons only", []string{"unavailable_after: 2010-06-25T15:00:00Z, noindex"}, true, false},
		{"empty parts are nothing", []string{"", ",", ":", ": , noindex"}, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			noIndex, noFollow := extract.RobotsTag(tt.values, "examplebot")
			if noIndex != tt.noIndex || noFollow != tt.noFollow {
				t.Errorf("%q: got %v %v, want %v %v", tt.values, noIndex, noFollow, tt.noIndex, tt.noFollow)
			}
		})
	}
}

func TestRobotsTagOfNoAgentIsForAllOnly(t *testing.T) {
	noIndex, noFollow := extract.RobotsTag([]string{"nofollow, examplebot: noindex"}, "")
	if noIndex || !noFollow {
		t.Errorf("got %v %v, want false true", noIndex, noFollow)
	}
}
