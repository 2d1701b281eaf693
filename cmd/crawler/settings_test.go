package main

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	"crawler/configs"
	"crawler/frontier"
	"crawler/storage"
)

func TestSettingsSurviveTheDataDirectory(t *testing.T) {
	given := map[string][]string{
		"scope": {"domain"}, "depth": {"3"}, "include": {"a,b", "c"}, "exclude": {`"d"`}, "delay": {"250ms"}, "per-host": {"2"},
		"user-agent": {"x/1, y"}, "header": {"A: b, c", "D: e"}, "robots": {"ignore"}, "allow-net": {"10.0.0.0/8", "::1"},
		"resolver": {"127.0.0.1:53"}, "resolve": {"a.test=127.0.0.1"}, "proxy": {"http://proxy.test:1"},
	}
	if got := len(given); got != len(kept) {
		t.Fatalf("%d flags are tried of the %d that are kept", got, len(kept))
	}
	first := newSettings()
	for name, values := range given {
		for _, v := range values {
			if err := first.flags.Set(name, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	first.text = "limits: {max_urls_per_host: 7}\n"
	want := load(t, first)
	data := t.TempDir()
	keep(t, first, data)

	again := newSettings()
	if err := again.recall(data); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, load(t, again), equal...); diff != "" {
		t.Errorf("a resume has other settings (-want +got):\n%s", diff)
	}
	// And they are kept for the resume after that.
	keep(t, again, data)
	third := newSettings()
	if err := third.recall(data); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, load(t, third), equal...); diff != "" {
		t.Errorf("the second resume has other settings (-want +got):\n%s", diff)
	}

	for name, v := range map[string]string{"include": "new", "depth": "9", "header": "New: x", "allow-net": "127.0.0.0/8"} {
		other := newSettings()
		if err := other.flags.Set(name, v); err != nil {
			t.Fatal(err)
		}
		if err := other.recall(data); err != nil {
			t.Fatal(err)
		}
		if got := values(other.flags.Lookup(name)); !slices.Equal(got, []string{v}) {
			t.Errorf("--%s given again: got %q, want %q alone", name, got, v)
		}
		if got := values(other.flags.Lookup("scope")); !slices.Equal(got, []string{"domain"}) {
			t.Errorf("--scope beside --%s: got %q, want what was kept", name, got)
		}
	}
}

func TestANewConfigurationFileDropsTheFlagsOfEarlierRuns(t *testing.T) {
	first := newSettings()
	set := func(s *settings, name, value string) {
		t.Helper()
		if err := s.flags.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	set(first, "delay", "5s")
	set(first, "depth", "3")
	data := t.TempDir()
	keep(t, first, data)
	file := filepath.Join(t.TempDir(), "new.yaml")
	if err := os.WriteFile(file, []byte("scope: {max_depth: 1}\npoliteness: {default: {delay: 2s}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	again := newSettings()
	set(again, "config", file)
	set(again, "depth", "7")
	if err := again.recall(data); err != nil {
		t.Fatal(err)
	}
	cfg := load(t, again)
	if got := cfg.Crawl.Politeness.Default.Delay; got != 2*time.Second {
		t.Errorf("delay: got %v, want that of the file", got)
	}
	if got := *cfg.Crawl.Scope.MaxDepth; got != 7 {
		t.Errorf("depth: got %d, want that of the flag given now", got)
	}
}

func TestAResumeHasThePolitenessOfTheFileAsItStands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "crawl.yaml")
	write := func(delay string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("politeness: {default: {delay: "+delay+"}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("2s")
	first := newSettings()
	if err := first.flags.Set("config", file); err != nil {
		t.Fatal(err)
	}
	load(t, first)
	data := t.TempDir()
	keep(t, first, data)
	for _, test := range []struct {
		name   string
		change func()
		want   time.Duration
	}{
		{"unchanged", func() {}, 2 * time.Second},
		{"changed", func() { write("3s") }, 3 * time.Second},
		{"faulty", func() { write("fast") }, 2 * time.Second},
		{"gone", func() { _ = os.Remove(file) }, 2 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.change()
			again := newSettings()
			if err := again.recall(data); err != nil {
				t.Fatal(err)
			}
			cfg := load(t, again)
			again.refresh(cfg)
			if got := cfg.Crawl.Politeness.Default.Delay; got != test.want {
				t.Errorf("delay: got %v, want %v", got, test.want)
			}
			if want := fmt.Sprintf("politeness: {default: {delay: %v}}\n", test.want); again.inForce != want {
				t.Errorf("in force: got %q, want %q", again.inForce, want)
			}
		})
	}
}

// equal lets configurations be compared.
var equal = []cmp.Option{
	cmp.Comparer(func(a, b *regexp.Regexp) bool { return a.String() == b.String() }),
	cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{}, frontier.Hours{}),
}

func newSettings() *settings {
	s := new(settings)
	s.register(pflag.NewFlagSet("test", pflag.ContinueOnError))
	return s
}

func load(t *testing.T, s *settings) *configs.Config {
	t.Helper()
	cfg, err := s.load()
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func keep(t *testing.T, s *settings, data string) {
	t.Helper()
	text, err := s.keep()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := storage.CreateDir(data, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := dir.SaveSettings(text); err != nil {
		t.Fatal(err)
	}
}

func values(f *pflag.Flag) []string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}
