package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"crawler/crawl"
)

func (a *app) statsCommand() *cobra.Command {
	var data string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "What a crawl and its filter did",
		Long:  "Print what a crawl and its filter did, while it runs or after.",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			from, err := a.openSource(cmd.Context(), data)
			if err != nil {
				return err
			}
			defer from.Close()
			s, err := from.Stats()
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(a.out, s)
			}
			printStats(a.out, s)
			return nil
		},
	}
	cmd.Flags().StringVar(&data, "data", defaultData, "the crawl's `DIR`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, for scripts")
	return cmd
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printStats prints s for a person, at most 80 columns wide.
func printStats(w io.Writer, s crawl.Stats) {
	line := func(label, value, note string) {
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-20s %15s  %s", label, value, note), " "))
	}
	fmt.Fprintf(w, "Crawl %s, started %s, %s of crawling\n", s.Crawl.State,
		s.Crawl.Started.UTC().Format("2006-01-02 15:04:05 MST"), time.Duration(s.Crawl.ElapsedS*1e9).Round(time.Second))

	fmt.Fprintln(w, "\nURLs")
	u := s.URLs
	line("discovered", count(u.Discovered), "links and seeds met, each once a page")
	line("  duplicates", count(u.Duplicates), "met before")
	line("  refused", count(u.RefusedBefore), "not admitted, see below")
	line("  admitted", count(u.Admitted), "new and in scope")
	line("    fetched", count(u.Fetched), "answered")
	line("    queued", count(u.Queued), "wait for their turn or a retry")
	line("    leased", count(u.Leased), "being fetched")
	line("    failed", count(u.Failed), "gone, or given up after retries")
	line("    refused", count(u.RefusedAfter), "by robots.txt or the server")
	if u.RefusedBefore+u.RefusedAfter > 0 {
		fmt.Fprintln(w, "\nRefused, by reason (crawler urls --state refused lists them)")
		for _, reason := range byCount(u.Refused) {
			line(reason, count(u.Refused[reason]), refusedNotes[reason])
		}
	}

	fmt.Fprintln(w, "\nFetches")
	line("requests", count(s.Fetch.Requests), count(s.Fetch.RobotsRequests)+" of them for robots.txt")
	line("bytes", size(s.Fetch.Bytes), "of bodies")
	line("pages per second", fmt.Sprintf("%.1f", s.Fetch.PagesPerS), "over all the time of crawling")
	line("not modified", count(s.Fetch.NotModified), "unchanged since the last fetch")
	for _, status := range slices.Sorted(maps.Keys(s.Fetch.Status)) {
		code, _ := strconv.Atoi(status)
		line("status "+status, count(s.Fetch.Status[status]), http.StatusText(code))
	}
	for _, kind := range byCount(s.Fetch.Errors) {
		line("error "+kind, count(s.Fetch.Errors[kind]), "")
	}

	fmt.Fprintln(w, "\nThe URL-seen gate")
	g := s.Seen
	line("checks", count(g.Checks), "URLs asked about")
	line("  trusted negatives", count(g.NegativesTrusted), "new for certain: no look-up needed")
	line("  unproven negatives", count(g.NegativesUnproven), "looked up, coverage not yet proven")
	line("  positives", count(g.Positives), "perhaps seen: the exact store decides")
	line("    true", count(g.TruePositives), "seen, and the exact store agreed")
	line("    false", count(g.FalsePositivesAvoided), "pages a filter alone would have lost")
	line("exact look-ups", count(g.ExactLookups), count(g.ExactLookupsAvoided)+" avoided")
	line("recent hits", count(g.RecentHits), "positives known without a look-up")
	line("false-positive rate", percent(g.FPRObserved), "observed")
	line("  predicted", percent(g.FPRPredicted), "of the filter as full as it is")
	line("  target", percent(g.FPRTarget), "it is rebuilt when well beyond this")
	f := g.Filter
	line("filter", f.Kind, fmt.Sprintf("%s, generation %d", size(f.MemoryBytes), f.Generation))
	if f.Keys > f.Capacity {
		line("  keys", count(f.Keys), "past its capacity of "+count(f.Capacity))
		line("", "", "to be rebuilt at a quarter more")
	} else {
		line("  keys", count(f.Keys), "of a capacity of "+count(f.Capacity))
	}
	line("  bits", count(f.Bits), fmt.Sprintf("%.1f a key at capacity, %d hashes", f.BitsPerKey, f.Hashes))
	line("  occupancy", percent(f.Occupancy), "of the bits are set")
	line("  rebuilds", count(f.Rebuilds), "as URLs grow in number")
	coverage, note := "proven", "a negative is proof"
	if !f.Covered {
		coverage, note = "unproven", plural(f.CoverageLag, "URL")+" to catch up with"
	}
	line("  coverage", coverage, note)

	fmt.Fprintln(w, "\nHosts and store")
	line("hosts known", count(s.Hosts.Known), fmt.Sprintf("%s active, %s deferred", count(s.Hosts.Active), count(s.Hosts.Deferred)))
	line("store", size(s.Store.Bytes), plural(s.Store.URLs, "URL"))
	if s.Store.Commits > 0 { // none are counted of a crawl that is not open
		line("commits", count(s.Store.Commits), "since the crawl was opened")
	}
	if s.Archive.Records > 0 {
		line("archive", size(s.Archive.Bytes), plural(s.Archive.Records, "record")+", "+plural(s.Archive.Revisits, "revisit"))
	}
}

// refusedNotes says what the reasons of refusals mean.
var refusedNotes = map[string]string{
	crawl.RefusedScope:    "too far from every seed",
	crawl.RefusedExclude:  "match an exclude pattern",
	crawl.RefusedInclude:  "match no include pattern",
	crawl.RefusedScheme:   "neither http nor https",
	crawl.RefusedInvalid:  "not a URL",
	crawl.RefusedDepth:    "too many links from a seed",
	crawl.RefusedLimit:    "their host has all it may have",
	crawl.RefusedTrap:     "at the end of endless redirects",
	crawl.RefusedNoFollow: "the page asks not to follow",
	crawl.RefusedRobots:   "robots.txt disallows them",
	crawl.RefusedServer:   "the server answered 401 or 403",
	crawl.RefusedBlocked:  "their address may not be dialled",
}

// byCount returns the names that a tally counts, the greatest first.
func byCount(t map[string]int64) []string {
	names := slices.SortedFunc(maps.Keys(t), func(a, b string) int {
		if t[a] != t[b] {
			return int(t[b] - t[a])
		}
		return strings.Compare(a, b)
	})
	return slices.DeleteFunc(names, func(name string) bool { return t[name] == 0 })
}

// plural writes a number of things.
func plural[N ~int | ~int64 | ~uint64](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return count(n) + " " + thing
}

// count writes a number with its thousands set off.
func count[N ~int | ~int64 | ~uint64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// size writes a number of bytes.
func size[N ~int64 | ~uint64](n N) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, i := float64(n), 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}

func percent(v float64) string {
	if v > 0 && v < 0.0001 {
		return fmt.Sprintf("%.1e %%", 100*v)
	}
	return fmt.Sprintf("%.2f %%", 100*v)
}
