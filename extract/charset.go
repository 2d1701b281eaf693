package extract

import (
	"bytes"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// IsHTML says whether a document of this media type is one for HTML to read. Parameters are allowed and ignored, so a
// Content-Type header will do. It is false for the empty type: see SniffHTML.
func IsHTML(contentType string) bool {
	switch mediaType(contentType) {
	case "text/html", "application/xhtml+xml":
		return true
	}
	return false
}

// SniffHTML says whether a body that came without a media type looks like HTML by its first 512 bytes (WHATWG MIME Sniffing, as
// http.DetectContentType implements it).
func SniffHTML(body []byte) bool {
	return IsHTML(http.DetectContentType(body))
}

// mediaType returns the type of a Content-Type header in lower case. Unlike mime.ParseMediaType it does not mind faulty
// parameters, nor a header sent twice and joined by a comma.
func mediaType(contentType string) string {
	if i := strings.IndexAny(contentType, ";,"); i >= 0 {
		contentType = contentType[:i]
	}
	return strings.ToLower(strings.TrimSpace(contentType))
}

// decode returns the body in UTF-8, or in what passes for it: a page that is UTF-8 already is not copied, and keeps its invalid
// bytes. A byte order mark wins over contentType, and that over a meta element in the first 1024 bytes (HTML 13.2.3.2). A page
// that declares nothing is UTF-8 if all of it is valid UTF-8, else windows-1252.
func decode(body []byte, contentType string) []byte {
	enc, name, _ := charset.DetermineEncoding(body, contentType)
	if name == "utf-8" {
		return body
	}
	// DetermineEncoding judges by the first 1024 bytes only. Its last resort is this very value; a windows-1252 that
	// the page declares is another one.
	if enc == charmap.Windows1252 && utf8.Valid(body) {
		return body
	}
	// Decoders replace what they cannot read. Should one fail none the less, the part before is still good.
	decoded, _, _ := transform.Bytes(enc.NewDecoder(), body)
	return decoded
}

// text returns an attribute's value trimmed and as valid UTF-8, with U+FFFD for what is not.
func text(value []byte) string {
	value = bytes.Trim(value, space)
	if !utf8.Valid(value) {
		value, _, _ = transform.Bytes(unicode.UTF8.NewDecoder(), value)
	}
	return string(value)
}
