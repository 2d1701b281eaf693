package fetcher

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
)

// Kind sorts the reasons why a fetch has no response.
type Kind string

// The kinds of failure.
const (
	KindDNS      Kind = "dns"      // the name could not be looked up, for now
	KindNXDomain Kind = "nxdomain" // the name does not exist, or has no address
	KindConnect  Kind = "connect"  // no connection: refused, unreachable
	KindTLS      Kind = "tls"      // no TLS session: bad certificate, no common version
	KindTimeout  Kind = "timeout"  // no complete head of a response within Config.Timeout
	KindReset    Kind = "reset"    // the connection broke off before the head was complete
	KindProtocol Kind = "protocol" // what came is not HTTP, or its head is too large
	KindBlocked  Kind = "blocked"  // the address is not public and not in Config.Allow; trying again is no use
	KindProxy    Kind = "proxy"    // the proxy could not be reached or would not connect
	KindCanceled Kind = "canceled" // the caller's context ended
)

// Error says why a fetch has no page. Find it with errors.AsType[*Error].
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return string(e.Kind) + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// errTimeout is the cause of the context of a fetch that has used up Config.Timeout.
var errTimeout = errors.New("fetch timed out")

// failure names the kind of an error that the transport returned for a request with the context ctx, made from parent.
func failure(parent, ctx context.Context, ex *exchange, err error) *Error {
	if parent.Err() != nil {
		return &Error{KindCanceled, context.Cause(parent)}
	}
	if ctx.Err() != nil {
		return &Error{KindTimeout, context.Cause(ctx)}
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e // of the dialler
	}
	op, _ := errors.AsType[*net.OpError](err)
	if op == nil {
		op = new(net.OpError)
	}
	switch {
	case op.Op == "proxyconnect", strings.HasPrefix(op.Op, "socks"):
		return &Error{KindProxy, err}
	case ex.tlsFailed.Load(), op.Op == "remote error", op.Op == "local error": // the latter two are TLS alerts
		return &Error{KindTLS, err}
	case isTimeout(err):
		return &Error{KindTimeout, err}
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, io.ErrClosedPipe):
		return &Error{KindReset, err}
	}
	return &Error{KindProtocol, err}
}

// dialFailure names the kind of an error of the dialler.
func dialFailure(proxied bool, err error) *Error {
	if proxied {
		return &Error{KindProxy, err}
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return &Error{e.Kind, err} // of the guard
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return &Error{KindNXDomain, err}
		}
		return &Error{KindDNS, err}
	}
	if isTimeout(err) {
		return &Error{KindTimeout, err}
	}
	return &Error{KindConnect, err}
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}
