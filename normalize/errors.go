package normalize

import (
	"errors"
	"strconv"
)

// Why Parse and Resolve refuse a text. They wrap one of these with the text.
var (
	ErrRelative = errors.New("relative reference without a base") // no scheme, and no base to resolve against
	ErrScheme   = errors.New("scheme is not http or https")
	ErrHost     = errors.New("missing or invalid host")
	ErrPort     = errors.New("invalid port")
	ErrTooLong  = errors.New("URL is too long") // longer than MaxLength
)

// inputError puts the refused text to the reason. Most of the links that are
// refused (mailto:, javascript:) are only counted, so the message is made when
// asked for.
type inputError struct {
	input  string
	reason error
}

func (e *inputError) Unwrap() error { return e.reason }

func (e *inputError) Error() string {
	const shown = 80 // bytes of input
	text, more := e.input, ""
	if len(text) > shown {
		text, more = text[:shown], "..."
	}
	return "parse " + strconv.Quote(text) + more + ": " + e.reason.Error()
}
