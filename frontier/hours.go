package frontier

import (
	"fmt"
	"strings"
	"time"
)

// Hours is a daily window in which a host may be visited. The zero value is always open.
type Hours struct {
	from, to time.Duration // since midnight; from == to: always open; from > to: across midnight
	zone     *time.Location
	text     string
}

// ParseHours reads a window as "22:00-06:00" or "22:00-06:00 ZONE", where ZONE is UTC (the default), Local or an IANA
// name such as Europe/Berlin. An empty text is the window that is always open.
func ParseHours(text string) (Hours, error) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return Hours{}, nil
	}
	h := Hours{zone: time.UTC, text: strings.Join(fields, " ")}
	from, to, ok := strings.Cut(fields[0], "-")
	if !ok || len(fields) > 2 {
		return Hours{}, fmt.Errorf("hours %q: want \"HH:MM-HH:MM\" or \"HH:MM-HH:MM ZONE\"", text)
	}
	var err error
	if h.from, err = parseClock(from); err != nil {
		return Hours{}, fmt.Errorf("hours %q: %w", text, err)
	}
	if h.to, err = parseClock(to); err != nil {
		return Hours{}, fmt.Errorf("hours %q: %w", text, err)
	}
	h.from %= day
	if h.from == h.to {
		return Hours{}, fmt.Errorf("hours %q: opens and closes at the same time; leave hours out for always", text)
	}
	if len(fields) == 2 {
		if h.zone, err = time.LoadLocation(fields[1]); err != nil {
			return Hours{}, fmt.Errorf("hours %q: unknown time zone %q", text, fields[1])
		}
	}
	return h, nil
}

func parseClock(s string) (time.Duration, error) {
	t, err := time.Parse("15:04", s)
	if err != nil {
		if s == "24:00" {
			return day, nil
		}
		return 0, fmt.Errorf("%q is not a time of day such as 22:00", s)
	}
	return clockOf(t), nil
}

// String returns the window as ParseHours reads it.
func (h Hours) String() string { return h.text }

// Next returns the first moment at or after t that lies in the window.
func (h Hours) Next(t time.Time) time.Time {
	if h.from == h.to {
		return t
	}
	for {
		local := t.In(h.zone)
		clock := clockOf(local)
		if h.open(clock) {
			return t
		}
		opening := t.Add((h.from - clock + day) % day)
		// A change to or from summer time may come first, after which the clock shows something else.
		_, change := local.ZoneBounds()
		if change.IsZero() || opening.Before(change) {
			return opening
		}
		t = change
	}
}

const day = 24 * time.Hour

func (h Hours) open(clock time.Duration) bool {
	if h.from > h.to {
		return clock >= h.from || clock < h.to
	}
	return clock >= h.from && clock < h.to
}

// clockOf returns what the clock on the wall shows at t, as the time since midnight.
func clockOf(t time.Time) time.Duration {
	hour, minute, second := t.Clock()
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second +
		time.Duration(t.Nanosecond())
}
