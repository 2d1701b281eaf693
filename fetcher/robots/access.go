package robots

import "net/http"

// Access is what the fetch of a robots.txt leaves a crawler to do (RFC 9309 section 2.3.1).
type Access string

// The outcomes of a fetch.
const (
	// AccessRules means that the file was fetched: obey it.
	AccessRules Access = "rules"
	// AccessAll means that the site has no such file: everything is allowed.
	AccessAll Access = "allow all"
	// AccessUnreachable means that there may be rules which are not known: fetch nothing from the site now.
	AccessUnreachable Access = "unreachable"
)

// AccessFor says what a status that is not followed as a redirect means. 429 counts with the 5xx, where the standard would allow
// everything: the site asks for less. A fetch without a status is AccessUnreachable, more than five redirects are AccessAll.
func AccessFor(status int) Access {
	switch {
	case status >= 200 && status <= 299:
		return AccessRules
	case status >= 500 && status <= 599, status == http.StatusTooManyRequests:
		return AccessUnreachable
	default:
		return AccessAll
	}
}
