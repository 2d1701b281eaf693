package fetcher

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// maxKept is the capacity, in bytes, up to which the buffer of a body is used again.
const maxKept = 1 << 20

// readBody fills in what the page has of its body. An error means that the body broke off; what came before is kept.
func (f *Fetcher) readBody(page *Page, resp *http.Response, maxBody int64) error {
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return nil // what follows is not HTTP
	}
	r := f.readers.Get().(*bodyReader)
	defer func() {
		r.release()
		f.readers.Put(r)
	}()
	r.wire = counter{r: resp.Body}
	r.left = maxBody + 1

	var err error
	if encoding := resp.Header.Get("Content-Encoding"); strings.EqualFold(encoding, "gzip") || strings.EqualFold(encoding, "x-gzip") {
		if page.Encoding, err = r.gunzip(); page.Encoding != "" {
			resp.Header.Del("Content-Length")
		}
		resp.Header.Del("Content-Encoding")
	} else {
		err = r.copy(&r.wire)
	}

	if r.left == 0 {
		page.Truncation = TruncatedLength
		r.buf.Truncate(int(maxBody))
	}
	page.Body = make([]byte, r.buf.Len())
	copy(page.Body, r.buf.Bytes())
	page.Received = r.wire.n
	return err
}

// bodyReader holds what can be used again of reading a body.
type bodyReader struct {
	wire counter
	in   *bufio.Reader // over wire; gzip must not read ahead of its end. Made when first used, like gz
	gz   *gzip.Reader
	buf  bytes.Buffer // the decoded body
	left int64        // bytes that buf may still take: one more than are kept, to tell a body that ends there
}

func (r *bodyReader) release() {
	r.wire = counter{}
	if r.buf.Cap() > maxKept {
		r.buf = bytes.Buffer{}
	}
	r.buf.Reset()
}

// copy appends src to the buffer up to its end or the limit.
func (r *bodyReader) copy(src io.Reader) error {
	n, err := r.buf.ReadFrom(io.LimitReader(src, r.left))
	r.left -= n
	return err
}

// gunzip appends the decoded members of a gzip file to the buffer and returns "gzip". A body that does not begin like one is
// appended as it is, for the field lies. What follows the last member is ignored, as browsers do.
func (r *bodyReader) gunzip() (string, error) {
	if r.in == nil {
		r.in, r.gz = bufio.NewReaderSize(nil, 16<<10), new(gzip.Reader)
	}
	r.in.Reset(&r.wire)
	defer r.in.Reset(nil)
	if !r.atMember() {
		return "", r.copy(r.in)
	}
	for {
		if err := r.gz.Reset(r.in); err != nil {
			return "gzip", err
		}
		r.gz.Multistream(false)
		if err := r.copy(r.gz); err != nil || r.left == 0 {
			return "gzip", err
		}
		if !r.atMember() {
			// This also reads the end of the body, which lets the connection be used again.
			_, err := r.in.Peek(1)
			if err == io.EOF {
				err = nil
			}
			return "gzip", err
		}
	}
}

// atMember reports whether a gzip member begins here (RFC 1952 section 2.3.1).
func (r *bodyReader) atMember() bool {
	magic, _ := r.in.Peek(2)
	return bytes.Equal(magic, []byte("\x1f\x8b"))
}

// counter counts the bytes read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
