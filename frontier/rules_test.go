package frontier_test

import (
	"strings"
	"testing"
	"time"

	"crawler/frontier"
)

func TestRulesForTheMostSpecificMatchWins(t *testing.T) {
	rule := func(match string, delay time.Duration) frontier.DomainRule {
		return frontier.DomainRule{Match: match, Politeness: frontier.Politeness{Delay: delay, Connections: 1}}
	}
	rules := frontier.Rules{
		Default: frontier.Politeness{Delay: 1, Connections: 1},
		Domains: []frontier.DomainRule{
			rule("www.example.org", 2),
			rule("example.org", 3),
			rule("*.example.org", 4),
			rule("*.www.example.org", 5),
			rule("twice.example", 6),
			rule("twice.example", 7),
			rule("*.first.example", 8),
			rule("first.example", 9),
			rule("127.0.0.1", 10),
			rule("[::1]", 11),
			rule("com", 12),
			rule("*.only.example", 13),
		},
	}
	for _, test := range []struct {
		name, host string
		want       time.Duration
	}{
		{"no match means the default", "example.net", 1},
		{"a host matches its own name", "example.org", 3},
		{"the subdomains' rule is not for the host itself", "only.example", 1},
		{"a host has its own rule beside one for its subdomains", "first.example", 9},
		{"a longer name is more specific", "www.example.org", 2},
		{"a host's rule is for its subdomains too", "a.twice.example", 7},
		{"of two that match a subdomain alike the last wins", "x.example.org", 4},
		{"in either order", "x.first.example", 9},
		{"a longer name is more specific for subdomains", "a.www.example.org", 5},
		{"at any depth", "a.b.c.example.org", 4},
		{"of equal ones the last wins", "twice.example", 7},
		{"a name that merely ends alike is another", "notexample.org", 1},
		{"a top-level domain is a name like any other", "example.com", 12},
		{"an IPv4 address matches itself", "127.0.0.1", 10},
		{"an IPv6 address matches itself", "[::1]", 11},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := rules.For(test.host).Delay; got != test.want {
				t.Errorf("For(%q) is rule %d, want %d", test.host, got, test.want)
			}
		})
	}
}

func TestPolitenessValidateReportsEveryFault(t *testing.T) {
	if err := frontier.DefaultPoliteness().Validate(); err != nil {
		t.Errorf("the default is refused: %v", err)
	}
	if err := (frontier.Politeness{Connections: 1}).Validate(); err != nil {
		t.Errorf("no delay is refused: %v", err)
	}
	err := frontier.Politeness{Delay: -1, MaxCrawlDelay: -1}.Validate()
	if err == nil {
		t.Fatal("everything out of range is taken")
	}
	for _, key := range []string{"delay: -1ns", "connections: 0", "max_crawl_delay: -1ns"} {
		if !strings.Contains(err.Error(), key) {
			t.Errorf("%q does not speak of %q", err, key)
		}
	}
}

func TestParseHours(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"nothing is always", "", ""},
		{"blank is always", " \t", ""},
		{"UTC is understood", "22:00-06:00", "22:00-06:00"},
		{"a zone is kept", "08:30-17:00 Europe/Berlin", "08:30-17:00 Europe/Berlin"},
		{"space is evened out", "  08:30-17:00   UTC ", "08:30-17:00 UTC"},
		{"a window may end at midnight", "22:00-24:00", "22:00-24:00"},
		{"and begin there", "24:00-06:00", "24:00-06:00"},
		{"a window may be the whole day", "00:00-24:00", "00:00-24:00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, err := frontier.ParseHours(test.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := h.String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			again, err := frontier.ParseHours(h.String())
			if err != nil {
				t.Errorf("its text %q cannot be read: %v", h, err)
			}
			if now := time.Now(); !again.Next(now).Equal(h.Next(now)) {
				t.Errorf("its text %q means another window", h)
			}
		})
	}
}

func TestParseHoursFaults(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"one time only", "22:00", `want "HH:MM-HH:MM"`},
		{"three fields", "22:00-06:00 UTC x", `want "HH:MM-HH:MM"`},
		{"spaces around the dash", "22:00 - 06:00", `want "HH:MM-HH:MM"`},
		{"no minutes", "22-06", `"22" is not a time of day`},
		{"the second time", "22:00-6", `"6" is not a time of day`},
		{"seconds", "22:00:00-06:00", `"22:00:00" is not a time of day`},
		{"hour 25", "25:00-06:00", `"25:00" is not a time of day`},
		{"minute 60", "22:60-06:00", `"22:60" is not a time of day`},
		{"past midnight", "22:00-24:01", `"24:01" is not a time of day`},
		{"an empty window", "22:00-22:00", "opens and closes at the same time"},
		{"midnight twice", "24:00-00:00", "opens and closes at the same time"},
		{"no such zone", "22:00-06:00 Mars/Olympus", `unknown time zone "Mars/Olympus"`},
		{"a file elsewhere", "22:00-06:00 ../../etc/passwd", "unknown time zone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, err := frontier.ParseHours(test.text)
			if err == nil {
				t.Fatalf("got %v, want an error", h)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %q, want it to say %q", err, test.want)
			}
		})
	}
}

func TestHoursNext(t *testing.T) {
	for _, test := range []struct{ name, window, at, want string }{
		{"always", "", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z"},
		{"the whole day", "00:00-24:00", "2026-03-01T23:59:59Z", "2026-03-01T23:59:59Z"},
		{"before", "08:00-10:00", "2026-03-01T07:59:59Z", "2026-03-01T08:00:00Z"},
		{"at the opening", "08:00-10:00", "2026-03-01T08:00:00Z", "2026-03-01T08:00:00Z"},
		{"within", "08:00-10:00", "2026-03-01T09:59:59.999Z", "2026-03-01T09:59:59.999Z"},
		{"at the closing", "08:00-10:00", "2026-03-01T10:00:00Z", "2026-03-02T08:00:00Z"},
		{"after", "08:00-10:00", "2026-03-01T12:34:56.789Z", "2026-03-02T08:00:00Z"},
		{"at the end of a year", "08:00-10:00", "2026-12-31T12:00:00Z", "2027-01-01T08:00:00Z"},
		{"until midnight", "22:00-24:00", "2026-03-01T23:59:59Z", "2026-03-01T23:59:59Z"},
		{"at midnight", "22:00-24:00", "2026-03-02T00:00:00Z", "2026-03-02T22:00:00Z"},
		{"from midnight", "24:00-06:00", "2026-03-01T12:00:00Z", "2026-03-02T00:00:00Z"},
		{"across midnight, before", "22:00-06:00", "2026-03-01T12:00:00Z", "2026-03-01T22:00:00Z"},
		{"across midnight, in the evening", "22:00-06:00", "2026-03-01T23:00:00Z", "2026-03-01T23:00:00Z"},
		{"across midnight, in the morning", "22:00-06:00", "2026-03-01T05:59:00Z", "2026-03-01T05:59:00Z"},
		{"across midnight, at the closing", "22:00-06:00", "2026-03-01T06:00:00Z", "2026-03-01T22:00:00Z"},
		{"a zone ahead", "08:00-10:00 Asia/Tokyo", "2026-03-01T12:00:00Z", "2026-03-01T23:00:00Z"},
		{"a zone behind", "08:00-10:00 America/New_York", "2026-01-01T12:00:00Z", "2026-01-01T13:00:00Z"},
		{"a zone of half hours", "08:00-10:00 Asia/Kolkata", "2026-01-01T00:00:00Z", "2026-01-01T02:30:00Z"},
		{"a time in another zone than the window's", "08:00-10:00", "2026-03-01T08:30:00+02:00", "2026-03-01T08:00:00Z"},

		// Berlin springs from 02:00 to 03:00 on 2026-03-29 at 01:00 UTC.
		{"the hour left out is not waited for", "08:00-10:00 Europe/Berlin", "2026-03-28T23:30:00Z", "2026-03-29T06:00:00Z"},
		{"an opening left out is when the clock is past it", "02:30-05:00 Europe/Berlin", "2026-03-29T00:10:00Z", "2026-03-29T01:00:00Z"},
		{"and the window is shorter", "02:30-05:00 Europe/Berlin", "2026-03-29T03:00:00Z", "2026-03-30T00:30:00Z"},
		{"a window left out opens the next day", "02:00-03:00 Europe/Berlin", "2026-03-29T00:10:00Z", "2026-03-30T00:00:00Z"},
		{"the day before is longer until then", "02:30-05:00 Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"},
		// New York springs at 07:00 UTC on 2026-03-08, and goes back at 06:00 UTC on 2026-11-01.
		{"an opening left out, west of UTC", "02:30-05:00 America/New_York", "2026-03-08T06:00:00Z", "2026-03-08T07:00:00Z"},
		{"an opening that comes twice counts the first time", "01:30-01:45 America/New_York", "2026-11-01T04:00:00Z", "2026-11-01T05:30:00Z"},
		{"and the second", "01:30-01:45 America/New_York", "2026-11-01T05:45:00Z", "2026-11-01T06:30:00Z"},
		// Berlin goes back from 03:00 to 02:00 on 2026-10-25 at 01:00 UTC.
		{"a window that the clock goes back into opens again", "02:15-03:00 Europe/Berlin", "2026-10-25T01:00:00Z", "2026-10-25T01:15:00Z"},
		{"a later one opens an hour later", "08:00-10:00 Europe/Berlin", "2026-10-24T22:30:00Z", "2026-10-25T07:00:00Z"},
		// Samoa left out 2011-12-30 altogether.
		{"a day left out", "08:00-10:00 Pacific/Apia", "2011-12-29T21:00:00Z", "2011-12-30T18:00:00Z"},
	} {
		t.Run(test.name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, test.at)
			if err != nil {
				t.Fatal(err)
			}
			h := hours(t, test.window)
			got := h.Next(at)
			if got := got.UTC().Format(time.RFC3339Nano); got != test.want {
				t.Errorf("Next(%s) of %q is %s, want %s", test.at, test.window, got, test.want)
			}
			if again := h.Next(got); !again.Equal(got) {
				t.Errorf("%v is not in the window: Next is %v", got, again)
			}
		})
	}
}

// TestHoursNextIsTheFirstMinute compares with a walk by minutes, through the days on which clocks change.
func TestHoursNextIsTheFirstMinute(t *testing.T) {
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo"} {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, window := range []string{"02:30-02:45", "00:10-00:50", "23:30-01:30", "01:45-23:50", "03:00-02:00"} {
			h := hours(t, window+" "+zone)
			from, to, _ := strings.Cut(window, "-")
			open := func(t time.Time) bool {
				clock := t.In(loc).Format("15:04")
				if from > to {
					return clock >= from || clock < to
				}
				return clock >= from && clock < to
			}
			for _, day := range []time.Time{
				time.Date(2026, 3, 8, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC),
				time.Date(2026, 4, 5, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 4, 0, 0, 0, 0, time.UTC),
				time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
				time.Date(2018, 11, 4, 0, 0, 0, 0, time.UTC), time.Date(2018, 2, 18, 0, 0, 0, 0, time.UTC),
			} {
				begin := day.AddDate(0, 0, -1)
				want := day.AddDate(0, 0, 3) // going back by minutes, the first open one so far
				for !open(want) {
					want = want.Add(time.Minute)
				}
				for at := day.AddDate(0, 0, 3); !at.Before(begin); at = at.Add(-time.Minute) {
					if open(at) {
						want = at
					}
					if got := h.Next(at); !got.Equal(want) {
						t.Fatalf("Next(%v) of %v is %v, want %v", at.In(loc), h, got.In(loc), want.In(loc))
					}
				}
			}
		}
	}
}
