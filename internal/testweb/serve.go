package testweb

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// service runs connections and ends them.
type service struct {
	web  *Web
	done chan struct{} // closed by close
	wg   sync.WaitGroup

	mu    sync.Mutex
	conns map[io.Closer]struct{} // guarded by mu; open connections and listeners, nil once closed
}

func newService(w *Web) *service {
	return &service{web: w, done: make(chan struct{}), conns: make(map[io.Closer]struct{})}
}

// run calls f in a goroutine and closes c when f returns or the service is
// closed, whichever is first. It reports false, having closed c, if the
// service is closed already.
func (s *service) run(c io.Closer, f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		c.Close()
		return false
	}
	s.conns[c] = struct{}{}
	s.wg.Go(func() {
		defer func() {
			c.Close()
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.conns, c)
		}()
		f()
	})
	return true
}

// close closes all connections and waits until their goroutines have ended.
func (s *service) close() {
	s.mu.Lock()
	if s.conns != nil {
		close(s.done)
	}
	for c := range s.conns {
		c.Close()
	}
	s.conns = nil
	s.mu.Unlock()
	s.wg.Wait()
}

// pause waits for d and reports whether the service still runs then.
func (s *service) pause(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.done:
		return false
	}
}

// Dial connects to a host of the web, or to [JudgeHost], over a [net.Pipe],
// as a [net.Dialer] would do over a network. The port is not looked at.
// Unknown hosts fail with a [net.DNSError] as they would with DNS.
func (w *Web) Dial(ctx context.Context, _, addr string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if _, ok := w.findHost(name); !ok && name != JudgeHost {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	client, server := net.Pipe()
	if !w.pipes.run(server, func() { w.pipes.serve(server) }) {
		client.Close()
		return nil, net.ErrClosed
	}
	return client, nil
}

// Close closes all connections made by [Web.Dial] and waits until their
// goroutines have ended. The judge can still be asked.
func (w *Web) Close() error {
	w.pipes.close()
	return nil
}

// request is what of a request matters here.
type request struct {
	method, target, host string
	start                time.Time
	close                bool
}

var errMalformed = errors.New("malformed request")

// readRequest reads a request and throws its body away. It returns io.EOF or
// another error of the connection if there is none, errMalformed if it is
// none that HTTP/1.1 (RFC 9112) allows or this server knows.
func readRequest(r *bufio.Reader) (request, error) {
	var q request
	if _, err := r.Peek(1); err != nil {
		return q, err
	}
	q.start = time.Now()
	line, err := readLine(r)
	if err != nil {
		return q, err
	}
	method, rest, _ := bytes.Cut(line, []byte{' '})
	target, version, _ := bytes.Cut(rest, []byte{' '})
	q.method, q.target = string(method), string(target)
	q.close = string(version) != "HTTP/1.1"
	if q.close && string(version) != "HTTP/1.0" || !strings.HasPrefix(q.target, "/") {
		return q, errMalformed
	}
	length := 0
	for {
		line, err := readLine(r)
		if err != nil {
			return q, err
		}
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Host")):
			q.host = string(value)
		case bytes.EqualFold(name, []byte("Connection")):
			q.close = q.close || bytes.EqualFold(value, []byte("close"))
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 {
				return q, errMalformed
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			return q, errMalformed
		}
	}
	_, err = r.Discard(length)
	return q, err
}

func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, errMalformed
	}
	return bytes.TrimRight(line, "\r\n"), err
}

// headroom is what is kept free for the header before a body, so that both go
// out with one write.
const headroom = 512

// lastWrite is the number of bytes at the end of an answer that are handed over at once. An answer counts as ended just before
// that: the client cannot have all of it any sooner, whereas the time after a write is as late as the scheduler pleases,
// and would make a client that keeps the delay look too early. So many bytes fit into the buffers of a socket. A pipe
// has none: there a write ends when the client has read the last byte.
const lastWrite = 64 << 10

// session is one connection and its buffers.
type session struct {
	*service
	conn  net.Conn
	buf   []byte // headroom, then the body
	head  []byte
	links []link
	phase uint32    // in which the connection was made
	last  time.Time // when the last bytes of an answer were handed over
}

// serve answers the requests of one connection until either side closes it.
func (s *service) serve(c net.Conn) {
	in := bufio.NewReaderSize(c, 4096)
	t := session{service: s, conn: c, phase: s.web.phase.Load(), buf: make([]byte, headroom, 64<<10)}
	for {
		q, err := readRequest(in)
		if errors.Is(err, errMalformed) {
			q.close = true
			t.write(q, answer{status: 400, contentType: plain, body: text("malformed request\n")})
		}
		if err != nil || !t.reply(q) || q.close {
			return
		}
	}
}

// reply answers q, records it, and reports whether the connection can go on.
func (t *session) reply(q request) bool {
	w := t.web
	if name, _, _ := strings.Cut(q.host, ":"); name == JudgeHost {
		_, ok := t.write(q, w.judge(q))
		return ok
	}
	h, ok := w.findHost(q.host)
	if !ok {
		h = w.cfg.Hosts
	}
	a, page := w.answer(h, q.target, &t.links)
	rec := record{
		start: q.start.Sub(w.epoch), phase: t.phase,
		page: page, throttled: a.throttled,
	}
	if a.status == 0 {
		io.Copy(io.Discard, t.conn) // until the client gives up
		ok = false
	} else {
		ok = t.pause(a.wait)
	}
	log := &w.hosts[h].log
	log.send()
	rec.end = time.Since(w.epoch)
	if ok {
		rec.status = int16(a.status)
		rec.bytes, ok = t.write(q, a)
		rec.end = t.last.Sub(w.epoch)
		rec.final = ok && a.final && q.method == http.MethodGet
	}
	stray := ""
	if page == strayPage {
		stray = "http://" + q.host + q.target
	}
	log.add(rec, stray)
	return ok
}

// write sends a and returns how many bytes of it went out, and whether the
// connection can go on.
func (t *session) write(q request, a answer) (int32, bool) {
	t.buf = a.body(t.buf[:headroom])
	size := len(t.buf) - headroom
	head := append(t.head[:0], "HTTP/1.1 "...)
	head = strconv.AppendInt(head, int64(a.status), 10)
	head = append(append(head, ' '), http.StatusText(a.status)...)
	head = append(append(head, "\r\nContent-Type: "...), a.contentType...)
	head = strconv.AppendInt(append(head, "\r\nContent-Length: "...), int64(size), 10)
	head = append(append(head, "\r\n"...), a.header...)
	if q.close {
		head = append(head, "Connection: close\r\n"...)
	}
	head = append(head, "\r\n"...)
	t.head = head
	from := headroom - copy(t.buf[headroom-len(head):], head)
	out := t.buf[from:]
	if q.method == http.MethodHead {
		out = out[:len(head)]
	}
	if a.cut {
		out = out[:len(head)+size/2]
	}
	tcp, buffered := t.conn.(*net.TCPConn)
	n, err := 0, error(nil)
	if first := len(out) - lastWrite; buffered && first > 0 {
		n, err = t.conn.Write(out[:first])
	}
	t.last = time.Now()
	if err == nil {
		var last int
		last, err = t.conn.Write(out[n:])
		n += last
	}
	if !buffered {
		t.last = time.Now()
	}
	if buffered && a.cut {
		tcp.SetLinger(0) // closing sends RST
	}
	return int32(n), err == nil && !a.cut
}
