package testweb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"
)

// Server is a [Web] on loopback sockets.
type Server struct {
	// Addr is the IP:PORT that all hosts share, or with Config.Addresses that of the
	// first host.
	Addr string
	// DNSAddr is the IP:PORT, UDP and TCP, of the server for the names of the
	// hosts, empty with Config.Addresses.
	DNSAddr string

	web     *Web
	service *service
	stop    func() bool // of the watch on the context
}

// Start serves w on addr, an IP:PORT of which the port may be 0, until Close
// or the end of ctx. With Config.Addresses every host has a listener of its
// own on the port of addr, and the IP of addr is not used. All URLs of w
// have the port from here on, so a Web is started once.
func (w *Web) Start(ctx context.Context, addr string) (*Server, error) {
	ip, port, err := splitAddr(addr)
	if err != nil {
		return nil, fmt.Errorf("testweb: start: %w", err)
	}
	ips := []string{ip}
	if w.cfg.Addresses {
		ips = ips[:0]
		for h := range w.cfg.Hosts {
			ips = append(ips, w.hosts[h].name)
		}
	}
	listeners, err := listen(ctx, ips, port)
	if err != nil {
		return nil, fmt.Errorf("testweb: start: %w", err)
	}
	s := &Server{Addr: listeners[0].Addr().String(), web: w, service: newService(w)}
	_, port, _ = splitAddr(s.Addr)
	w.port = ":" + strconv.Itoa(port)
	for _, l := range listeners {
		s.service.run(l, func() { s.service.accept(l, s.service.serve) })
	}
	if !w.cfg.Addresses {
		if s.DNSAddr, err = s.service.startDNS(ctx, ip); err != nil {
			s.service.close()
			return nil, fmt.Errorf("testweb: start: %w", err)
		}
	}
	s.stop = context.AfterFunc(ctx, s.service.close)
	return s, nil
}

// Seeds returns the URLs to start from, as [Web.Seeds].
func (s *Server) Seeds() []string { return s.web.Seeds() }

// Close stops listening, closes all connections and waits until their
// goroutines have ended. The judge can still be asked.
func (s *Server) Close() error {
	s.stop()
	s.service.close()
	return nil
}

func splitAddr(addr string) (ip string, port int, err error) {
	ip, p, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, err
	}
	port, err = strconv.Atoi(p)
	return ip, port, err
}

// tries is how often a free port is looked for that is free for every listener.
const tries = 20

// listen listens on one port of all ips. Port 0 means any that is free on
// all of them.
func listen(ctx context.Context, ips []string, port int) ([]net.Listener, error) {
	for try := 1; ; try++ {
		all, err := listenAll(ctx, ips, port)
		if err == nil || port != 0 || try == tries || !errors.Is(err, syscall.EADDRINUSE) {
			return all, err
		}
	}
}

func listenAll(ctx context.Context, ips []string, port int) ([]net.Listener, error) {
	var lc net.ListenConfig
	var all []net.Listener
	for _, ip := range ips {
		l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(ip, strconv.Itoa(port)))
		if err != nil {
			for _, l := range all {
				l.Close()
			}
			return nil, err
		}
		all = append(all, l)
		_, port, _ = splitAddr(l.Addr().String())
	}
	return all, nil
}

// accept calls serve for each connection of l until l is closed.
func (s *service) accept(l net.Listener, serve func(net.Conn)) {
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			s.run(c, func() { serve(c) })
		case errors.Is(err, net.ErrClosed), !s.pause(10 * time.Millisecond): // such as no free descriptor
			return
		}
	}
}
