package crawl

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"crawler/fetcher"
	"crawler/frontier"
)

// reasonGone is the reason of a page that the server says is not there.
const reasonGone = "gone"

// statusOutcomes says what the status of an answer means. Those not listed follow their class, see statusOutcome.
var statusOutcomes = map[int]frontier.Outcome{
	http.StatusUnauthorized:       {Verdict: frontier.Refuse, Reason: RefusedServer},
	http.StatusForbidden:          {Verdict: frontier.Refuse, Reason: RefusedServer},
	http.StatusRequestTimeout:     {Verdict: frontier.TryAgain, HostFailed: true},
	http.StatusTooEarly:           {Verdict: frontier.TryAgain, HostFailed: true},
	http.StatusTooManyRequests:    {Verdict: frontier.TryAgain, HostFailed: true},
	http.StatusServiceUnavailable: {Verdict: frontier.TryAgain, HostFailed: true},
}

// statusOutcome returns what the status of an answer means.
func statusOutcome(status int) frontier.Outcome {
	o, ok := statusOutcomes[status]
	switch {
	case ok:
	case status >= 500:
		o = frontier.Outcome{Verdict: frontier.TryAgain}
	case status >= 400:
		return frontier.Outcome{Verdict: frontier.GiveUp, Reason: reasonGone, Detail: statusText(status)}
	default:
		return frontier.Outcome{Verdict: frontier.Settled}
	}
	o.Detail = statusText(status)
	if o.Reason == "" {
		o.Reason = "status " + strconv.Itoa(status)
	}
	return o
}

func statusText(status int) string {
	return fmt.Sprintf("the server answered %d %s", status, http.StatusText(status))
}

// errorOutcomes says what a failed request means, by the kind of its error.
var errorOutcomes = map[fetcher.Kind]frontier.Outcome{
	fetcher.KindDNS:      {Verdict: frontier.TryAgain, HostFailed: true},
	fetcher.KindNXDomain: {Verdict: frontier.TryAgain, HostFailed: true}, // given up after triesNXDomain
	fetcher.KindConnect:  {Verdict: frontier.TryAgain, HostFailed: true},
	fetcher.KindTLS:      {Verdict: frontier.TryAgain, HostFailed: true},
	fetcher.KindTimeout:  {Verdict: frontier.TryAgain, HostFailed: true},
	fetcher.KindReset:    {Verdict: frontier.TryAgain, HostFailed: true},
	fetcher.KindProxy:    {Verdict: frontier.TryAgain, HostFailed: true},
	fetcher.KindProtocol: {Verdict: frontier.TryAgain},
	fetcher.KindBlocked:  {Verdict: frontier.Refuse, Reason: RefusedBlocked},
	fetcher.KindCanceled: {Verdict: frontier.PutBack},
}

// triesNXDomain is the number of times a name that does not exist is looked up.
const triesNXDomain = 2

// errorOutcome returns what a failed request means. tries is the number of tries before it.
func errorOutcome(err error, tries int) frontier.Outcome {
	kind := kindOf(err)
	o, ok := errorOutcomes[kind]
	if !ok {
		o = frontier.Outcome{Verdict: frontier.TryAgain}
	}
	if kind == fetcher.KindNXDomain && tries+1 >= triesNXDomain {
		o = frontier.Outcome{Verdict: frontier.GiveUp}
	}
	if o.Reason == "" {
		o.Reason = string(kind)
	}
	o.Detail = detailOf(err)
	return o
}

// detailOf returns what a fetch error says beyond its kind, and for an address that may not be dialled the way out.
func detailOf(err error) string {
	fe, ok := errors.AsType[*fetcher.Error](err)
	switch {
	case !ok:
		return err.Error()
	case fe.Kind == fetcher.KindBlocked:
		return fe.Err.Error() + "; --allow-net lets it in"
	}
	return fe.Err.Error()
}

// kindOf returns the kind of a fetch error, "other" for one without.
func kindOf(err error) fetcher.Kind {
	if fe, ok := errors.AsType[*fetcher.Error](err); ok {
		return fe.Kind
	}
	return "other"
}

// pageOutcome returns what a page means. tries is the number of tries before it.
func pageOutcome(p *fetcher.Page, tries int) frontier.Outcome {
	o := statusOutcome(p.Status)
	cut := p.Truncation == fetcher.TruncatedDisconnect || p.Truncation == fetcher.TruncatedTime
	switch {
	case o.Verdict == frontier.Settled && p.RedirectErr != nil:
		o = frontier.Outcome{Verdict: frontier.GiveUp, Reason: "redirect", Detail: p.RedirectErr.Error()}
	case o.Verdict == frontier.Settled && cut && tries == 0:
		o = frontier.Outcome{Verdict: frontier.TryAgain, Reason: "truncated", Detail: "the body was cut short: " + string(p.Truncation)}
	case o.Verdict == frontier.Settled && p.Truncation != "":
		o.Reason, o.Detail = "truncated", "the body was cut short: "+string(p.Truncation)
	}
	o.Status, o.Bytes, o.MediaType = p.Status, int64(len(p.Body)), p.MediaType
	o.End, o.Answer = p.End, p.Wait
	if o.HostFailed {
		o.RetryAfter = p.RetryAfter
	}
	return o
}
