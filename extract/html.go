package extract

import (
	"bytes"
	"io"
	"iter"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// space is the ASCII white space of the Infra standard.
const space = " \t\n\f\r"

// Document is what a crawler wants to know of an HTML page.
type Document struct {
	// Base is the href of the first base element that has one, which may be relative to the page's own URL. It is "" if
	// there is none, or if that one has the scheme data or javascript: such a base is ignored, and so are all later ones
	// (HTML 4.2.3).
	Base string
	// NoIndex and NoFollow are what meta elements named robots, or like the agent, ask for. The X-Robots-Tag header says
	// the same outside the document: see RobotsTag.
	NoIndex, NoFollow bool

	hasBase bool // a base with an href was met
	links   []Link
}

// Links yields the links of the document in their order. Every link element with an href is among them, except those that are
// only dns-prefetch or preconnect, and links that the page asks not to follow.
func (d *Document) Links() iter.Seq[Link] {
	return slices.Values(d.links)
}

// HTML reads an HTML page. The contentType is the value of its Content-Type header, which may be empty; the agent is a product
// token such as "examplebot", for meta elements that address it by name, and may be empty too.
//
// The page is seen as by a browser without scripting or frames: the contents of noscript, noframes and noembed count as well as
// those of template. Comments, scripts, styles and other raw text do not.
func HTML(body []byte, contentType, agent string) *Document {
	s := scanner{
		doc:   new(Document),
		agent: agent,
		xml:   mediaType(contentType) == "application/xhtml+xml",
	}
	s.scan(decode(body, contentType))
	return s.doc
}

// scanner reads markup token by token. It builds no tree, which html.Parse refuses to do above 512 open elements.
type scanner struct {
	doc   *Document
	agent string
	xml   bool // "<p/>" is an empty element and CDATA is text

	nested   bool // within noscript or one of its kin
	foreign  int  // open svg and math elements
	template int  // open template elements
}

// maxToken is the size in bytes of a token after which the tokenizer is replaced. It keeps a set of attribute names that never
// shrinks and is cleared for every tag, so that after one tag with very many attributes each further tag is slow.
const maxToken = 64 << 10

func (s *scanner) scan(markup []byte) {
	r := bytes.NewReader(markup)
	z := s.tokenizer(r)
	worn := false
	for {
		t := z.Next()
		worn = worn || len(z.Raw()) > maxToken
		textNext := false
		switch t {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			textNext = s.startTag(z, t == html.SelfClosingTagToken)
		case html.EndTagToken:
			s.endTag(z)
		}
		if worn && !textNext {
			r.Reset(markup[len(markup)-r.Len()-len(z.Buffered()):])
			z = s.tokenizer(r)
			worn = false
		}
	}
}

func (s *scanner) tokenizer(r io.Reader) *html.Tokenizer {
	z := html.NewTokenizer(r)
	z.AllowCDATA(s.xml)
	return z
}

// startTag reads a start tag. It says whether the tokenizer takes what follows for text.
func (s *scanner) startTag(z *html.Tokenizer, selfClosing bool) (textNext bool) {
	var buf [maxName + 1]byte
	name := appendName(buf[:0], z.Raw()[len("<"):])

	// The tokenizer takes what follows "<title/>" for the text of a title. In XML and in foreign content it is not.
	empty := selfClosing && (s.xml || s.foreign > 0)
	if empty {
		z.NextIsNotRawText()
	}
	switch string(name) {
	case "a":
		t := readTag(z)
		if t.href == nil {
			t.href = t.xlinkHref
		}
		s.add(KindA, t.href, t.rel)
	case "area":
		t := readTag(z)
		s.add(KindArea, t.href, t.rel)
	case "link":
		t := readTag(z)
		s.add(KindLink, t.href, t.rel)
	case "frame":
		s.add(KindFrame, readTag(z).src, nil)
	case "iframe":
		s.add(KindIFrame, readTag(z).src, nil)
		return !empty
	case "script", "style", "title", "textarea", "xmp", "plaintext":
		return !empty
	case "base":
		s.base(readTag(z))
	case "meta":
		s.meta(readTag(z))
	case "svg", "math":
		if !selfClosing {
			s.foreign++
		}
	case "template":
		if !empty {
			s.template++
		}
	case "noscript", "noframes", "noembed":
		if !empty {
			s.fallback(z)
		}
	}
	return false
}

func (s *scanner) endTag(z *html.Tokenizer) {
	var buf [maxName + 1]byte
	switch string(appendName(buf[:0], z.Raw()[len("</"):])) {
	case "svg", "math":
		s.foreign = max(s.foreign-1, 0)
	case "template":
		s.template = max(s.template-1, 0)
	}
}

// fallback reads the contents of noscript, noframes or noembed. Most browsers take them for text up to the end tag, so they are
// read by themselves: a quote or a comment left open in there, which no author ever notices, hides nothing of the page behind.
// Within the contents they are elements like any other, which bounds the recursion.
func (s *scanner) fallback(z *html.Tokenizer) {
	if s.nested {
		z.NextIsNotRawText()
		return
	}
	// Anything but text here is the end tag or the end of the page.
	if z.Next() == html.TextToken {
		inner := *s
		inner.nested = true
		inner.scan(z.Raw())
	}
}

func (s *scanner) add(kind Kind, ref, rel []byte) {
	if ref == nil {
		return
	}
	l := Link{Ref: text(ref), Kind: kind, Rel: text(rel)}
	l.NoFollow = l.HasRel("nofollow")
	if kind == KindLink && l.HasRel("canonical") {
		l.Kind = KindCanonical
	}
	// Nothing is loaded for an empty reference by elements other than a and area.
	if l.Ref == "" && kind != KindA && kind != KindArea || kind == KindLink && l.isHint() {
		return
	}
	s.doc.links = append(s.doc.links, l)
}

// base takes the base of the document. One in a template is not in the document.
func (s *scanner) base(t tag) {
	if t.href == nil || s.doc.hasBase || s.template > 0 {
		return
	}
	s.doc.hasBase = true
	ref := text(t.href)
	if scheme := schemeOf(ref); scheme != "data" && scheme != "javascript" {
		s.doc.Base = ref
	}
}

func (s *scanner) meta(t tag) {
	if strings.EqualFold(string(t.httpEquiv), "refresh") {
		if _, url, ok := ParseRefresh(text(t.content)); ok {
			s.add(KindRefresh, []byte(url), nil)
		}
	}
	name := strings.Trim(string(t.name), space)
	named := strings.EqualFold(name, "robots") || name != "" && strings.EqualFold(name, s.agent)
	if named && s.template == 0 {
		noIndex, noFollow := directives(string(t.content))
		s.doc.NoIndex = s.doc.NoIndex || noIndex
		s.doc.NoFollow = s.doc.NoFollow || noFollow
	}
}

// tag holds the attributes of a start tag that matter here. An absent one is nil, an empty one is not.
type tag struct {
	href, xlinkHref, src, rel, name, httpEquiv, content []byte
}

func readTag(z *html.Tokenizer) tag {
	var t tag
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		if value == nil {
			value = []byte{}
		}
		switch string(key) {
		case "href":
			t.href = value
		case "xlink:href":
			t.xlinkHref = value
		case "src":
			t.src = value
		case "rel":
			t.rel = value
		case "name":
			t.name = value
		case "http-equiv":
			t.httpEquiv = value
		case "content":
			t.content = value
		}
	}
	return t
}

// maxName is the length of the longest tag name that matters, plaintext.
const maxName = 9

// appendName appends the tag name that raw begins with, in lower case, or as much of it as tells it from those that matter. The
// tokenizer's own TagName allocates for every tag.
func appendName(dst, raw []byte) []byte {
	for _, c := range raw[:min(len(raw), maxName+1)] {
		switch {
		case c == '>' || c == '/' || strings.IndexByte(space, c) >= 0:
			return dst
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// schemeOf returns the scheme of a reference in lower case, read as the URL standard does: tabs and newlines do not count.
func schemeOf(ref string) string {
	ref = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(ref)
	scheme, _, found := strings.Cut(ref, ":")
	if !found {
		return ""
	}
	return strings.ToLower(strings.TrimLeftFunc(scheme, func(r rune) bool { return r <= ' ' }))
}
