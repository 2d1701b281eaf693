// Package robots reads robots.txt files and says what they let a crawler fetch (RFC 9309).
//
// Parse reads any bytes and never fails. [File.Group] picks the rules of one product token, and [Rules.Check] judges
// one URL by them and names the deciding line. [AccessFor] says what the status of the fetch itself means, and [Cache]
// keeps the rules of many authorities for a day.
//
// Invariants: the same bytes always give the same verdicts; parsing takes time linear in the file and a check takes time linear
// in the rules and the URL, whatever a hostile file holds; a File and its Rules do not change once made and are safe for
// concurrent use. Where the standard leaves a choice, the reading that fetches less is taken.
//
// The package fetches nothing, keeps no clock and enforces no delay.
package robots
