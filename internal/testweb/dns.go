package testweb

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"golang.org/x/net/dns/dnsmessage"
)

// maxMessage is the largest DNS message over TCP (RFC 1035, section 4.2.2).
const maxMessage = 1<<16 - 1

// startDNS serves the names of the hosts on one port of ip, over UDP and TCP.
func (s *service) startDNS(ctx context.Context, ip string) (addr string, err error) {
	var lc net.ListenConfig
	for try := 1; ; try++ {
		packets, err := lc.ListenPacket(ctx, "udp", net.JoinHostPort(ip, "0"))
		if err != nil {
			return "", err
		}
		addr := packets.LocalAddr().String()
		l, err := lc.Listen(ctx, "tcp", addr)
		if err == nil {
			s.run(packets, func() { s.answerPackets(packets) })
			s.run(l, func() { s.accept(l, s.answerStream) })
			return addr, nil
		}
		packets.Close()
		if try == tries || !errors.Is(err, syscall.EADDRINUSE) {
			return "", err
		}
	}
}

// answerPackets answers the queries that come in on c until it is closed.
func (s *service) answerPackets(c net.PacketConn) {
	buf := make([]byte, maxMessage)
	for {
		n, from, err := c.ReadFrom(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // an ICMP error for an answer sent earlier
		}
		if msg, err := s.web.resolve(buf[:n]); err == nil {
			c.WriteTo(msg, from)
		}
	}
}

// answerStream answers the queries of a TCP connection, each with its length
// before it.
func (s *service) answerStream(c net.Conn) {
	buf := make([]byte, maxMessage)
	for {
		if _, err := io.ReadFull(c, buf[:2]); err != nil {
			return
		}
		query := buf[:binary.BigEndian.Uint16(buf)]
		if _, err := io.ReadFull(c, query); err != nil {
			return
		}
		msg, err := s.web.resolve(query)
		if err != nil {
			return
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(msg))), msg...)); err != nil {
			return
		}
	}
}

// resolve returns the answer to a query: 127.0.0.1 for every host and the
// judge, no data of other types, and NXDOMAIN for every other name.
func (w *Web) resolve(query []byte) ([]byte, error) {
	var p dnsmessage.Parser
	head, err := p.Start(query)
	if err != nil {
		return nil, err
	}
	if head.Response {
		return nil, errors.New("not a query")
	}
	q, err := p.Question()
	if err != nil {
		return nil, err
	}
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	_, known := w.byName[name]
	msg := dnsmessage.Message{
		Header: dnsmessage.Header{
			ID: head.ID, Response: true, Authoritative: true,
			RecursionDesired: head.RecursionDesired, RecursionAvailable: true,
		},
		Questions: []dnsmessage.Question{q},
	}
	switch {
	case !known && name != JudgeHost:
		msg.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA || q.Type == dnsmessage.TypeALL:
		msg.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 60},
			Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
		}}
	}
	return msg.Pack()
}
