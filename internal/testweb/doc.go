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
// Pages 0 to 5 of a host are its front page and the five pages of its
// navigation bar. From there the pages form a tree, five children to a page, except the
// last ones (an eighth of the host, at most 12), which form an archive: a chain
// that begins at the front page. Hosts form a tree too, three to a host: the front page of a host
// is linked from a navigation page of its parent. Every page is thus reachable
// from the seeds, and hosts far down the tree and ends of archives are deep. One
// page in 32 has a shortcut, a link to some page anywhere, so that a crawler
// may meet a page by a long path before it meets it by a short one.
//
// A page has 20 to 40 links. On a page with children up to five are to pages
// no other need link to; the rest repeat pages of an earlier or the same level.
// While the tree is being opened about 80 % of the links are thus
// duplicates; over a complete crawl the share is one minus one over the number of links a page, as it must be.
// Links are written in all usual forms: relative, absolute path, absolute,
// without scheme, with a fragment, with &amp; and with a bare &. What looks like a link in a
// comment and in a script leads to nothing, and a request for it is unexpected.
//
// Body sizes are log-normal with sigma 0.6 around [Config.MedianSize]: a median
// of 35,000 bytes has a mean of about 42,000.
//
// # Judge
//
// A Web records every request it answers, for as long as it lives, so that a
// crawler may be killed and restarted under its eyes. Times are taken in the
// server: a request starts when its first byte is read and ends when the last
// byte of the answer has been handed to the connection, or the connection
// was closed. See [Report] for what is counted, and [JudgeHost] for reading it from another
// process.
//
// # Ways to serve
//
// [Web.Start] serves on loopback sockets, with a DNS server of its own for the
// host names. [Web.Dial] serves over [net.Pipe], without any socket, and works
// within a testing/synctest bubble. A Web is served in one of the two ways.
//
// # Limits
//
// The server speaks as much HTTP/1.1 as a crawler needs: GET and HEAD, persistent connections,
// pipelining. It has no TLS, no compression, no conditional requests and no sitemaps.
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
