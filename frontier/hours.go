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
			return 24 * time.Hour, nil
		}
		return 0, fmt.Errorf("%q is not a time of day such as 22:00", s)
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, nil
}

// String returns the window as ParseHours reads it.
func (h Hours) String() string { return h.text }

// Next returns the first moment at or after t that lies in the window.
func (h Hours) Next(t time.Time) time.Time {
	if h.from == h.to {
		return t
	}
	local := t.In(h.zone)
	midnight := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, h.zone)
	now := time.Duration(local.Hour())*time.Hour + time.Duration(local.Minute())*time.Minute +
		time.Duration(local.Second())*time.Second + time.Duration(local.Nanosecond())
	open := now >= h.from && now < h.to
	if h.from > h.to {
		open = now >= h.from || now < h.to
	}
	if open {
		return t
	}
	opening := at(midnight, h.from)
	if !opening.After(t) {
		opening = at(midnight.AddDate(0, 0, 1), h.from)
	}
	return opening
}

// at returns the wall-clock time d after the midnight of day, which on the two days a year that change the clock is
// not d hours later.
func at(day time.Time, d time.Duration) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), int(d/time.Hour), int(d%time.Hour/time.Minute), 0, 0, day.Location())
}
