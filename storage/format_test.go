package storage_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"crawler/storage"
)

var writeGolden = flag.Bool("golden", false, "write testdata/golden.txt anew")

// A format that changes without a new version makes old data directories unreadable.
func TestKeysAndValuesOnDiskStayAsTheyAre(t *testing.T) {
	s := newStore(t)
	fill(t, s)
	var got strings.Builder
	view(t, s, func(tx *storage.Tx) {
		for _, table := range strings.Fields("log index records queue later hosts refused links relink robots anchors meta") {
			must(t, tx.Raw(table).ForEach(func(k, v []byte) error {
				if table == "meta" && string(k) == "seed" {
					v = fmt.Appendf(nil, "%d random", len(v))
				}
				fmt.Fprintf(&got, "%s %+q\n\t%+q\n", table, k, v)
				return nil
			}))
		}
	})
	const name = "testdata/golden.txt"
	if *writeGolden {
		must(t, os.WriteFile(name, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(name)
	must(t, err)
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestValuesComeBackAsTheyWerePut(t *testing.T) {
	s := newStore(t)
	text, number := rapid.String(), rapid.Int()
	when := rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.Bool().Draw(t, "none") {
			return time.Time{}
		}
		return time.Unix(0, rapid.Int64Range(1, math.MaxInt64).Draw(t, "ns"))
	})
	ref := rapid.Custom(func(t *rapid.T) storage.Ref {
		return storage.Ref{Partition: number.Draw(t, "partition"), ID: storage.ID(rapid.Uint64().Draw(t, "id"))}
	})
	equal := func(t *rapid.T, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		err := s.Update(func(tx *storage.Tx) error {
			r := storage.Record{
				State: storage.State(rapid.IntRange(1, 4).Draw(t, "state")), Reason: text.Draw(t, "reason"), Detail: text.Draw(t, "detail"),
				Depth: number.Draw(t, "depth"), Hops: number.Draw(t, "hops"), Via: ref.Draw(t, "via"),
				Seed: rapid.Bool().Draw(t, "seed"), Fallback: rapid.Bool().Draw(t, "fallback"), Parked: rapid.Bool().Draw(t, "parked"),
				Tries: number.Draw(t, "tries"), Due: when.Draw(t, "due"), Status: number.Draw(t, "status"),
				Bytes: rapid.Int64().Draw(t, "bytes"), MediaType: text.Draw(t, "type"), Fetched: when.Draw(t, "fetched"),
			}
			must(t, tx.SetRecord(1, 1, r))
			gotRecord, err := tx.Record(1)
			must(t, err)
			equal(t, gotRecord, r)

			h := storage.Host{
				ID: rapid.Uint32().Draw(t, "id"), Admitted: number.Draw(t, "admitted"), Queued: number.Draw(t, "queued"),
				LastEnd: when.Draw(t, "last"), Answer: time.Duration(rapid.Int64().Draw(t, "answer")),
				Fails: number.Draw(t, "fails"), Silent: number.Draw(t, "silent"), Parked: number.Draw(t, "parked"),
				Unreachable: number.Draw(t, "unreachable"),
				Until:       when.Draw(t, "until"), Why: text.Draw(t, "why"), CrawlDelay: time.Duration(rapid.Int64().Draw(t, "delay")),
			}
			must(t, tx.SetHost("h", h))
			gotHost, err := tx.Host("h")
			must(t, err)
			equal(t, gotHost, h)

			f := storage.Refusal{
				Reason: text.Draw(t, "reason"), Detail: text.Draw(t, "detail"), Href: text.Draw(t, "href"),
				Depth: number.Draw(t, "depth"), Hops: number.Draw(t, "hops"), Via: ref.Draw(t, "via"), Seed: rapid.Bool().Draw(t, "seed"),
			}
			must(t, tx.SetRefusal("k", f))
			gotRefusal, found, err := tx.Refusal("k")
			must(t, err)
			equal(t, found, true)
			equal(t, gotRefusal, f)

			links := rapid.SliceOf(rapid.Custom(func(t *rapid.T) storage.StoredLink {
				return storage.StoredLink{Href: text.Draw(t, "href"), Redirect: rapid.Bool().Draw(t, "redirect")}
			})).Draw(t, "links")
			must(t, tx.SetLinks(1, links))
			gotLinks, err := tx.Links(1)
			must(t, err)
			equal(t, gotLinks, links)

			b := storage.Robots{
				Access: text.Draw(t, "access"), Status: number.Draw(t, "status"), Kind: text.Draw(t, "kind"), Detail: text.Draw(t, "detail"),
				Fetched: when.Draw(t, "fetched"), Fails: number.Draw(t, "fails"), Next: when.Draw(t, "next"),
				CrawlDelay: time.Duration(rapid.Int64().Draw(t, "delay")), Body: rapid.SliceOf(rapid.Byte()).Draw(t, "body"),
			}
			must(t, tx.SetRobots("o", b))
			gotRobots, found, err := tx.Robots("o")
			must(t, err)
			equal(t, found, true)
			equal(t, gotRobots, b)

			key, href := rapid.StringN(1, -1, 200).Draw(t, "key"), rapid.StringN(1, -1, 200).Draw(t, "href")
			id, err := tx.Append(key, href)
			must(t, err)
			gotKey, gotHref, err := tx.URL(id)
			must(t, err)
			equal(t, [2]string{gotKey, gotHref}, [2]string{key, href})
			return errStop
		})
		if !errors.Is(err, errStop) {
			t.Fatal(err)
		}
	})
}

var errStop = errors.New("stop")

func TestTimesThatTheClockDoesNotGiveKeepURLsInOneQueue(t *testing.T) {
	for name, due := range map[string]time.Time{
		"the epoch":    time.Unix(0, 0),
		"before it":    time.Unix(-5, 0),
		"the far past": time.Date(-3000, 1, 1, 0, 0, 0, 0, time.UTC),
		"far future":   time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			update(t, s, func(tx *storage.Tx) {
				mustAdmit(t, tx, "h", "u", storage.Record{State: storage.Queued, Due: due})
			})
			must(t, s.Check())
			update(t, s, func(tx *storage.Tx) {
				h, err := tx.Host("h")
				must(t, err)
				h.Queued = 0
				must(t, tx.SetHost("h", h))
				must(t, tx.SetRecord(1, h.ID, storage.Record{State: storage.Fetched}))
			})
		})
	}
}

func TestNonsenseIsDamage(t *testing.T) {
	for format, decode := range storage.Decoders() {
		for name, b := range map[string][]byte{
			"nothing":           {},
			"an old version":    append([]byte{0}, make([]byte, 64)...),
			"a newer version":   append([]byte{2}, make([]byte, 64)...),
			"a version alone":   {1},
			"an endless number": bytes.Repeat([]byte{0xff}, 40),
			"a long string":     {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
			"text":              []byte("User-agent: *\nDisallow: /\n"),
		} {
			if err := decode(b); !errors.Is(err, storage.ErrDamaged) {
				t.Errorf("%s as %s: got %v, want ErrDamaged", name, format, err)
			}
		}
	}
}

func TestFieldsOutOfRangeAreDamage(t *testing.T) {
	record := func(state byte) []byte { return append([]byte{1, state}, make([]byte, 13)...) }
	host := func(number uint64) []byte {
		return append(binary.AppendUvarint([]byte{1}, number), make([]byte, 11)...)
	}
	for name, tt := range map[string]struct {
		format string
		value  []byte
		sound  bool
	}{
		"the least state":      {"record", record(1), true},
		"the greatest state":   {"record", record(4), true},
		"no state":             {"record", record(0), false},
		"an unknown state":     {"record", record(5), false},
		"the greatest host":    {"host", host(math.MaxUint32), true},
		"a host beyond queues": {"host", host(math.MaxUint32 + 1), false},
		"the number of no URL": {"id", make([]byte, 8), false},
	} {
		if err := storage.Decoders()[tt.format](tt.value); errors.Is(err, storage.ErrDamaged) == tt.sound {
			t.Errorf("%s: got %v, want sound: %v", name, err, tt.sound)
		}
	}
}

// goldenValues returns the values of the golden file.
func goldenValues(t testing.TB) [][]byte {
	var values [][]byte
	s := newStore(t)
	fill(t, s)
	view(t, s, func(tx *storage.Tx) {
		for _, table := range strings.Fields("log records hosts refused links robots") {
			must(t, tx.Raw(table).ForEach(func(_, v []byte) error {
				values = append(values, bytes.Clone(v))
				return nil
			}))
		}
	})
	return values
}

func TestAValueCutShortOrTooLongIsDamage(t *testing.T) {
	decoders := storage.Decoders()
	s := newStore(t)
	fill(t, s)
	view(t, s, func(tx *storage.Tx) {
		for table, format := range map[string]string{
			"log": "log", "records": "record", "hosts": "host", "refused": "refusal", "links": "links", "robots": "robots",
			"relink": "id", "queue": "queue", "later": "later",
		} {
			must(t, tx.Raw(table).ForEach(func(k, v []byte) error {
				if len(v) == 0 {
					v = k
				}
				must(t, decoders[format](v))
				for n := range v {
					if err := decoders[format](v[:n]); !errors.Is(err, storage.ErrDamaged) {
						t.Errorf("%d bytes of a %s: got %v, want ErrDamaged", n, format, err)
					}
				}
				if err := decoders[format](append(bytes.Clone(v), 0)); !errors.Is(err, storage.ErrDamaged) {
					t.Errorf("a %s and a byte: got %v, want ErrDamaged", format, err)
				}
				return nil
			}))
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, v := range goldenValues(f) {
		f.Add(v)
	}
	decoders := storage.Decoders()
	f.Fuzz(func(t *testing.T, b []byte) {
		for format, decode := range decoders {
			if err := decode(b); err != nil && !errors.Is(err, storage.ErrDamaged) {
				t.Errorf("%s: %v", format, err)
			}
		}
	})
}
