// Package extract turns the bytes of a fetched document into the references it holds.
//
// It is pure: no network, no disk, no state between calls, and none of the crawler's other packages. Three things always hold:
//
//   - No input fails. What cannot be read (invalid bytes, an unclosed tag, an unknown charset) costs at most itself.
//   - Neither depth of nesting nor size of a token or an attribute makes work grow faster than the body.
//   - References are valid UTF-8 and otherwise as the author wrote them, in document order, duplicates included.
//
// It does not resolve, normalize, filter or count references, obey the robots directives it reports, or run scripts: all of
// that is the caller's. Schemes such as mailto and javascript come out like any other reference.
package extract

import "strings"

// Kind says what in a document a link came from.
type Kind string

// The kinds of links in HTML.
const (
	KindA         Kind = "a"         // a href, or xlink:href as in SVG
	KindArea      Kind = "area"      // area href
	KindLink      Kind = "link"      // link href; Rel says what it is for
	KindCanonical Kind = "canonical" // link href with rel=canonical
	KindFrame     Kind = "frame"     // frame src
	KindIFrame    Kind = "iframe"    // iframe src
	KindRefresh   Kind = "refresh"   // the URL of meta http-equiv=refresh
)

// Link is one reference of a document.
type Link struct {
	// Ref is the reference with character references decoded and surrounding white space trimmed. It is to be resolved
	// against the document's base. It is empty only for a and area, where it means the base itself.
	Ref  string
	Kind Kind
	// Rel is the rel attribute as written but trimmed, "" if there is none.
	Rel string
	// NoFollow says that Rel holds nofollow. The tokens ugc and sponsored say who made a link, not that it should be left
	// alone, and do not set it.
	NoFollow bool
}

// HasRel says whether token is among the space-separated tokens of Rel, in any case.
func (l Link) HasRel(token string) bool {
	for t := range strings.FieldsSeq(l.Rel) {
		if strings.EqualFold(t, token) {
			return true
		}
	}
	return false
}

// isHint says whether a link element only prepares a connection, so that its href names a host and no document.
func (l Link) isHint() bool {
	hint := false
	for t := range strings.FieldsSeq(l.Rel) {
		if !strings.EqualFold(t, "dns-prefetch") && !strings.EqualFold(t, "preconnect") {
			return false
		}
		hint = true
	}
	return hint
}
