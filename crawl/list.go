package crawl

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"crawler/seen"
	"crawler/storage"
)

// Entry is one URL in a list.
type Entry struct {
	URL       string     `json:"url"`
	State     string     `json:"state"`
	Reason    string     `json:"reason,omitempty"`
	Detail    string     `json:"detail,omitempty"`
	Depth     int        `json:"depth"`
	Via       string     `json:"via,omitempty"`
	Tries     int        `json:"tries,omitempty"`
	Due       *time.Time `json:"due,omitempty"`
	Status    int        `json:"status,omitempty"`
	Bytes     int64      `json:"bytes,omitempty"`
	MediaType string     `json:"media_type,omitempty"`
	Fetched   *time.Time `json:"fetched,omitempty"`
}

// ListStates are the states by which URLs can be listed. "seen" lists every admitted URL.
func ListStates() []string {
	return []string{"queued", "leased", "fetched", "failed", "refused", "seen"}
}

// listGroup is the number of URLs read in one transaction, which keeps it short.
const listGroup = 1000

// URLs yields the URLs in a state, one of ListStates, in order of admission; then, for "refused", those that were not
// admitted. It ends after the first error. A list of a running crawl is not of one moment.
func (v *View) URLs(state string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if !slices.Contains(ListStates(), state) {
			yield(Entry{}, fmt.Errorf("crawl: no state %q", state))
			return
		}
		for n, store := range v.dir.Stores() {
			if !v.admittedIn(n, store, state, yield) {
				return
			}
			if state == "refused" && !v.refusedIn(store, yield) {
				return
			}
		}
	}
}

// admittedIn yields the admitted URLs of one partition that are in a state, and returns whether to go on.
func (v *View) admittedIn(n int, store *storage.Store, state string, yield func(Entry, error) bool) bool {
	leased := v.leases(n)
	for after, more := storage.ID(0), true; more; {
		var group []found
		err := store.View(func(tx *storage.Tx) error {
			more = false
			read := 0
			for id, r := range tx.Records(after) {
				after = id
				name := r.State.String()
				if r.State == storage.Queued && leased[id] {
					name = "leased"
				}
				if state == "seen" || state == name {
					_, href, err := tx.URL(id)
					if err != nil {
						return err
					}
					group = append(group, newEntry(href, name, r))
				}
				if read++; read == listGroup {
					more = true
					break
				}
			}
			return nil
		})
		if !v.yieldAll(group, err, yield) {
			return false
		}
	}
	return true
}

// refusedIn yields the URLs of one partition that were not admitted, and returns whether to go on.
func (v *View) refusedIn(store *storage.Store, yield func(Entry, error) bool) bool {
	for after, more := "", true; more; {
		var group []found
		err := store.View(func(tx *storage.Tx) error {
			more = false
			read := 0
			for key, r := range tx.Refusals(after) {
				after = key
				group = append(group, found{via: r.Via, Entry: Entry{
					URL: r.Href, State: storage.Refused.String(), Reason: r.Reason, Detail: r.Detail, Depth: r.Depth,
				}})
				if read++; read == listGroup {
					more = true
					break
				}
			}
			return nil
		})
		if !v.yieldAll(group, err, yield) {
			return false
		}
	}
	return true
}

// found is an entry whose page of origin is still to be named, which may need another partition.
type found struct {
	Entry
	via storage.Ref
}

func (v *View) yieldAll(group []found, err error, yield func(Entry, error) bool) bool {
	for _, f := range group {
		var viaErr error
		if f.Via, viaErr = v.url(f.via); viaErr != nil {
			yield(f.Entry, viaErr)
			return false
		}
		if !yield(f.Entry, nil) {
			return false
		}
	}
	if err != nil {
		yield(Entry{}, err)
		return false
	}
	return true
}

func newEntry(href, state string, r storage.Record) found {
	e := Entry{
		URL: href, State: state, Reason: r.Reason, Detail: r.Detail, Depth: r.Depth, Tries: r.Tries,
		Status: r.Status, Bytes: r.Bytes, MediaType: r.MediaType, Due: timeOrNil(r.Due), Fetched: timeOrNil(r.Fetched),
	}
	return found{Entry: e, via: r.Via}
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// leases returns the leased URLs of a partition.
func (v *View) leases(n int) map[storage.ID]bool {
	leased := map[storage.ID]bool{}
	if v.live != nil {
		for _, ref := range v.live.frontier.Leases() {
			if ref.Partition == n {
				leased[ref.ID] = true
			}
		}
	}
	return leased
}

// FalsePositives returns the last URLs that the filter claimed to have seen and the exact store did not hold: those
// that a crawler which trusts its filter would have lost.
func (v *View) FalsePositives() ([]seen.FalsePositive, error) {
	var all []seen.FalsePositive
	if v.live != nil {
		for _, p := range v.live.parts {
			all = append(all, p.gate.FalsePositives()...)
		}
		return all, nil
	}
	for _, store := range v.dir.Stores() {
		var some []seen.FalsePositive
		err := store.View(func(tx *storage.Tx) error {
			if text := tx.Meta(metaFalsePositives); len(text) > 0 {
				return json.Unmarshal(text, &some)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
