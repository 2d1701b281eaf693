// Package testweb is a synthetic web with a known answer. It serves crawls and
// judges them.
//
// The graph, the sizes, the bodies and the faults are pure functions of
// [Config] and a page's coordinates (host number, page number), computed when
// asked for: no page is stored, and two processes with the same Config serve
// the same web. What a right crawl must fetch is therefore known beforehand:
// [Web.Reachable] computes it from the graph, and [Web.Report] compares it with
// the requests that came in.
//
// # Graph
//
// The pages of a host form a tree, five children to a page, except the last
// ones (an eighth of the host, at most 12), which form an archive: a chain that
// begins at the front page. The front page and its children are the navigation
// bar. Hosts form a tree too, three children to a host: the front page of a
// host is linked from the navigation bar's pages of its parent. Every page is
// thus reachable from the seeds. Hosts far down their tree and the ends of
// archives are deep: in 20 hosts of 500 pages most are at depths 5 to 8, the
// last at 17. One page in 32 has a shortcut, a link to some page anywhere, so
// that a crawler may meet a page by a long path before it meets it by a short
// one.
//
// A page without children may be a redirect instead. Most redirects lead to the
// next page, and are the only way to it that is sure to exist; no chain has
// more than five.
//
// A page has 20 to 45 links. On a page with children five or a few more of them
// are to pages that hardly any other page links to; the rest repeat pages of the
// same or an earlier level. While the tree is being opened 80 to 87 % of the
// links are thus duplicates. Over a complete crawl it must be more, since a
// finite web has no more new pages than pages: 97 %.
//
// Links are written in all usual forms: relative, absolute path, absolute,
// without scheme, with a fragment, with &amp; and with a bare &, some twice on a
// page. What looks like a link in a comment and in a script leads to nothing,
// and a request for it is unexpected.
//
// Body sizes are log-normal with sigma 0.6 around [Config.MedianSize]: a median
// of 35,000 bytes has a mean of about 42,000.
//
// # Judge
//
// A Web records every request it answers, for as long as it lives, so that a
// crawler may be killed and restarted under its eyes. Times are taken in the
// server: a request starts when its first byte is read and ends when the last
// byte of the answer has been handed to the connection, or the connection was
// closed. A record takes 32 bytes. See [Report] for what is counted, and
// [JudgeHost] for asking from another process.
//
// # Ways to serve
//
// [Web.Start] serves on loopback sockets, with a DNS server of its own for the
// host names. [Web.Dial] serves over [net.Pipe], without any socket, and works
// within a testing/synctest bubble. A Web is served in one of the two ways.
//
// # Limits
//
// The server speaks as much HTTP/1.1 as a crawler needs: GET and HEAD,
// persistent connections, pipelining. It has no TLS, no compression, no
// conditional requests and no sitemaps.
//
// # Files
//
//	config.go  Config, its defaults and the mix of the demo
//	web.go     Web, host names, URLs, random numbers
//	graph.go   coordinates, kinds, paths, links, the known answer
//	render.go  bodies
//	faults.go  what is answered to one request, latency
//	serve.go   HTTP over any connection; Dial
//	listen.go  Server: loopback listeners
//	dns.go     the name server
//	judge.go   the record of requests
//	report.go  the verdict, and the judge over HTTP
package testweb
