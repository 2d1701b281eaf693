//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"crawler/crawl"
	"crawler/internal/testweb"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"crawler": main})
}

// TestScripts runs the command as its users do, each script in a directory of its own. Beside the commands of testscript
// the scripts have these:
//
//	exits CODE COMMAND ARG...    run a command that has to end with the exit code
//	testweb [FLAG...]            serve a synthetic web: $SEED, $ADDR and $RESOLVER say where, seeds.txt and web.yaml are
//	                             ready to crawl all of it; -hosts N -pages N -latency D -private X
//	judge                        have the web judge the crawl: all fetched, nothing twice, nothing disallowed
//	fetched N                    have the web judge that so many URLs were fetched, none twice
//	site DIR                     serve the files of a directory under any host name, at $SITE, which is an IP:PORT;
//	                             /forbidden is forbidden, and /endless/N redirects to N+1
//	get FILE HOST URL            write to a file what a server answers that is asked for the host
//	start NAME ARG...            run crawler in the background, with its output in NAME.out and NAME.err
//	signal NAME SIGNAL           INT, TERM, HUP or KILL
//	ends NAME CODE               wait until it has ended, which has to be with the exit code
//	await FILE REGEXP            wait until a file has a match
//	find FILE REGEXP NAME        set a variable to what the first group of a match in a file is
//	ask REGEXP ARG...            run crawler again and again until its standard output has a match
//	truncate FILE SIZE, gzip FILE
//	statsjson FILE               have the file hold stats --json: every field, and identities that hold
//	columns N FILE               have no line of the file be wider
//	nobody CODE COMMAND ARG...   as exits, as a user that may write nowhere; its output goes to nobody.err
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Deadline:            time.Now().Add(3 * time.Minute), // a command that hangs fails its script
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			s := &script{started: map[string]*process{}}
			env.Values[scriptKey{}] = s
			env.Defer(s.end)
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": cmdExits, "testweb": cmdTestweb, "judge": cmdJudge, "fetched": cmdFetched, "site": cmdSite, "get": cmdGet,
			"start": cmdStart, "signal": cmdSignal, "ends": cmdEnds, "await": cmdAwait, "find": cmdFind, "ask": cmdAsk, "truncate": cmdTruncate, "gzip": cmdGzip, "statsjson": cmdStatsJSON,
			"columns": cmdColumns, "nobody": cmdNobody,
		},
	})
}

// patience bounds every wait for another process.
const patience = 60 * time.Second

// script is what a script has running.
type script struct {
	web     *testweb.Web
	server  *testweb.Server
	started map[string]*process
}

type scriptKey struct{}

type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has
}

func (s *script) end() {
	for _, p := range s.started {
		_ = p.cmd.Process.Kill() // fails if it has ended
		<-p.ended
	}
	if s.server != nil {
		_ = s.server.Close()
	}
}

func of(ts *testscript.TestScript) *script { return ts.Value(scriptKey{}).(*script) }

// want checks the form of a command of a script.
func want(ts *testscript.TestScript, neg, ok bool, usage string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

// within calls done until it returns true, and fails the script if that takes too long. It polls in real time, for what it
// waits for is done by another process.
func within(ts *testscript.TestScript, what string, done func() bool) {
	for deadline := time.Now().Add(patience); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("no %s within %v", what, patience)
		}
	}
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) > 1, "exits CODE COMMAND ARG...")
	checkCode(ts, args[0], ts.Exec(args[1], args[2:]...))
}

func checkCode(ts *testscript.TestScript, code string, err error) {
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != code {
		ts.Fatalf("exit code %d, want %s", got, code)
	}
}

func cmdTestweb(ts *testscript.TestScript, neg bool, args []string) {
	var cfg testweb.Config
	flags := flag.NewFlagSet("testweb", flag.ContinueOnError)
	flags.IntVar(&cfg.Hosts, "hosts", 3, "")
	flags.IntVar(&cfg.Pages, "pages", 10, "")
	flags.Float64Var(&cfg.Private, "private", 0, "")
	flags.DurationVar(&cfg.Latency, "latency", 0, "")
	want(ts, neg, flags.Parse(args) == nil && flags.NArg() == 0, "testweb [FLAG...]")
	cfg.MedianSize = 2000
	s := of(ts)
	var err error
	s.web, err = testweb.New(cfg)
	ts.Check(err)
	s.server, err = s.web.Start(context.Background(), "127.0.0.1:0")
	ts.Check(err)
	ts.Setenv("SEED", s.server.Seeds()[0])
	ts.Setenv("ADDR", s.server.Addr)
	ts.Setenv("RESOLVER", s.server.DNSAddr)
	write := func(name, text string) { ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o644)) }
	write("seeds.txt", strings.Join(s.server.Seeds(), "\n")+"\n")
	write("web.yaml", fmt.Sprintf(`scope: {default: any}
limits: {min_free_disk: 0B}
politeness: {default: {delay: 0s}}
network: {allow: [127.0.0.0/8], resolver: %q}
`, s.server.DNSAddr))
}

func report(ts *testscript.TestScript) testweb.Report {
	return of(ts).web.Report(testweb.Options{Scope: testweb.Scope{MaxDepth: -1}})
}

func cmdJudge(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 0, "judge")
	ts.Check(report(ts).Err())
}

func cmdFetched(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "fetched N")
	if r := report(ts); strconv.Itoa(r.Fetched) != args[0] || len(r.Duplicates) > 0 {
		ts.Fatalf("%d URLs fetched, twice %v; want %s", r.Fetched, r.Duplicates, args[0])
	}
}

func cmdSite(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "site DIR")
	files := http.FileServer(http.Dir(ts.MkAbs(args[0])))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n, ok := strings.CutPrefix(r.URL.Path, "/endless/"); ok {
			next, _ := strconv.Atoi(n)
			http.Redirect(w, r, "/endless/"+strconv.Itoa(next+1), http.StatusFound)
			return
		}
		if r.URL.Path == "/forbidden" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		files.ServeHTTP(w, r)
	}))
	ts.Defer(server.Close)
	ts.Setenv("SITE", server.Listener.Addr().String())
}

func cmdGet(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 3, "get FILE HOST URL")
	req, err := http.NewRequest(http.MethodGet, args[2], nil)
	ts.Check(err)
	req.Host = args[1]
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), body, 0o644))
}

func cmdStart(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) > 0, "start NAME ARG...")
	name := args[0]
	cmd := exec.Command("crawler", args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	stdout, err := os.Create(ts.MkAbs(name + ".out"))
	ts.Check(err)
	defer stdout.Close()
	stderr, err := os.Create(ts.MkAbs(name + ".err"))
	ts.Check(err)
	defer stderr.Close()
	cmd.Stdout, cmd.Stderr = stdout, stderr
	ts.Check(cmd.Start())
	p := &process{cmd, make(chan struct{})}
	of(ts).started[name] = p
	go func() {
		_ = cmd.Wait() // its code is looked at in ends
		close(p.ended)
	}()
}

func running(ts *testscript.TestScript, name string) *process {
	p := of(ts).started[name]
	if p == nil {
		ts.Fatalf("%s was not started", name)
	}
	return p
}

func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 2, "signal NAME SIGNAL")
	signals := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": os.Kill}
	ts.Check(running(ts, args[0]).cmd.Process.Signal(signals[args[1]]))
}

func cmdEnds(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 2, "ends NAME CODE")
	p := running(ts, args[0])
	for _, suffix := range []string{".out", ".err"} {
		defer func() { ts.Logf("%s", ts.ReadFile(args[0]+suffix)) }()
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		ts.Fatalf("%s has not ended within %v", args[0], patience)
	}
	if code := strconv.Itoa(p.cmd.ProcessState.ExitCode()); code != args[1] {
		ts.Fatalf("exit code %s, want %s", code, args[1])
	}
}

func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 2, "await FILE REGEXP")
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	within(ts, "match of "+args[1], func() bool {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && re.Match(text)
	})
}

func cmdFind(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 3, "find FILE REGEXP NAME")
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	match := re.FindStringSubmatch(ts.ReadFile(args[0]))
	if len(match) < 2 {
		ts.Fatalf("no match of %s", args[1])
	}
	ts.Setenv(args[2], match[1])
}

func cmdAsk(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) > 1, "ask REGEXP ARG...")
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	within(ts, "match of "+args[0], func() bool {
		cmd := exec.Command("crawler", args[1:]...)
		cmd.Dir = ts.MkAbs(".")
		out, err := cmd.Output()
		return err == nil && re.Match(out)
	})
}

func cmdTruncate(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 2, "truncate FILE SIZE")
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}

func cmdGzip(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "gzip FILE")
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(ts.ReadFile(args[0])))
	ts.Check(errors.Join(err, w.Close()))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".gz"), b.Bytes(), 0o600))
}

func cmdStatsJSON(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "statsjson FILE")
	text := ts.ReadFile(args[0])
	var fields map[string]map[string]any
	ts.Check(json.Unmarshal([]byte(text), &fields))
	for section, names := range statsFields {
		for _, name := range strings.Fields(names) {
			in := fields[section]
			if section == "filter" {
				in, _ = fields["seen"]["filter"].(map[string]any)
			}
			if _, ok := in[name]; !ok {
				ts.Fatalf("no field %s in %s", name, section)
			}
		}
	}
	var s crawl.Stats
	ts.Check(json.Unmarshal([]byte(text), &s))
	ts.Check(s.Check())
	g := s.Seen
	if g.Checks != g.NegativesTrusted+g.NegativesUnproven+g.Positives || g.Positives != g.TruePositives+g.FalsePositivesAvoided ||
		g.ExactLookupsAvoided != g.NegativesTrusted {
		ts.Fatalf("the counts of the gate do not add up: %+v", g)
	}
	refused := int64(0)
	for _, n := range s.URLs.Refused {
		refused += n
	}
	if refused != s.URLs.RefusedBefore+s.URLs.RefusedAfter {
		ts.Fatalf("%d refused by reason, %d before and %d after admission", refused, s.URLs.RefusedBefore, s.URLs.RefusedAfter)
	}
}

// statsFields are the fields of stats --json that scripts rely on.
var statsFields = map[string]string{
	"crawl": "state started elapsed_s",
	"urls":  "discovered admitted queued leased fetched failed refused duplicates",
	"fetch": "requests bytes pages_per_s status errors robots_requests not_modified",
	"seen": "checks negatives_trusted negatives_unproven positives true_positives false_positives_avoided exact_lookups " +
		"exact_lookups_avoided recent_hits fpr_target fpr_predicted fpr_observed filter",
	"filter":  "kind generation bits hashes keys capacity occupancy bits_per_key memory_bytes rebuilds covered coverage_lag",
	"hosts":   "known active deferred",
	"store":   "urls bytes commits",
	"archive": "records bytes revisits",
}

func cmdColumns(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 2, "columns N FILE")
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if line = strings.TrimRight(line, "\n"); len([]rune(line)) > most {
			ts.Fatalf("%d columns: %s", len([]rune(line)), line)
		}
	}
}

// cmdNobody runs a command as a user that may do little.
func cmdNobody(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) > 1, "nobody CODE COMMAND ARG...")
	const nobody = 65534
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	for _, name := range []string{path, ts.MkAbs(".")} { // what leads there is the tests' own
		for dir := filepath.Dir(name); strings.HasPrefix(dir, os.TempDir()+string(filepath.Separator)); dir = filepath.Dir(dir) {
			ts.Check(addMode(dir, 0o011))
		}
	}
	cmd := exec.Command(path, args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	ts.Check(os.WriteFile(ts.MkAbs("nobody.err"), out, 0o600))
	checkCode(ts, args[0], err)
}

func addMode(name string, mode fs.FileMode) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return os.Chmod(name, info.Mode().Perm()|mode)
}
