package extract

import "strings"

// RobotsTag reads the values of the X-Robots-Tag header fields of a response. Directives hold for every crawler unless a
// product token and a colon stand before them, as in "otherbot: noindex, nofollow"; then they hold, up to the next token or the
// end of the value, for the agent of that name alone, in any case. All that apply are added up.
func RobotsTag(values []string, agent string) (noIndex, noFollow bool) {
	for _, value := range values {
		applies := true
		for part := range strings.SplitSeq(value, ",") {
			if name, rest, found := strings.Cut(part, ":"); found && isAgent(strings.TrimSpace(name)) {
				applies = strings.EqualFold(strings.TrimSpace(name), agent)
				part = rest
			}
			if applies {
				i, f := directives(part)
				noIndex, noFollow = noIndex || i, noFollow || f
			}
		}
	}
	return noIndex, noFollow
}

// isAgent says whether a name before a colon is a crawler's, not that of a directive with a value ("max-snippet: 20") nor part
// of the date in one ("unavailable_after: Friday, 25-Jun-10 15:00:00 UTC").
func isAgent(name string) bool {
	lower := strings.ToLower(name)
	return name != "" && !strings.ContainsAny(name, space) &&
		lower != "unavailable_after" && !strings.HasPrefix(lower, "max-")
}

// directives reads a list of robots directives. One with a value is not for us, and its value is no directive:
// "max-image-preview: none" forbids nothing.
func directives(list string) (noIndex, noFollow bool) {
	for part := range strings.SplitSeq(list, ",") {
		if strings.Contains(part, ":") {
			continue
		}
		for token := range strings.FieldsSeq(part) {
			switch strings.ToLower(token) {
			case "none":
				noIndex, noFollow = true, true
			case "noindex":
				noIndex = true
			case "nofollow":
				noFollow = true
			}
		}
	}
	return noIndex, noFollow
}
