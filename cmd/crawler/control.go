package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"crawler/crawl"
)

// A running crawl holds its data directory. It answers questions over a Unix socket, which the file "control" of the
// directory names: by its name alone where it lies beside the file, so that a copy of the directory does not lead to the
// crawl of the original; by its path where that would be too long for a socket, and it lies with the temporary files.
const (
	controlFile = "control"
	socketName  = "control.sock"
	// maxSocketPath is the least of the limits that systems put on the path of a socket.
	maxSocketPath = 100
)

// socketPath returns where the socket for a data directory is to be, how the control file names it, and what removes the
// directory made for it, if any.
func socketPath(data string) (path, name string, cleanUp func(), err error) {
	path, err = filepath.Abs(filepath.Join(data, socketName))
	if err != nil || len(path) <= maxSocketPath {
		return path, socketName, func() {}, err
	}
	parent := os.TempDir()
	if len(parent) > maxSocketPath/2 {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "crawler-")
	path = filepath.Join(dir, socketName)
	return path, path, func() { _ = os.RemoveAll(dir) }, err
}

// serveControl answers questions about c until the returned function is called.
func serveControl(c *crawl.Crawl) (stop func(), err error) {
	path, name, cleanUp, err := socketPath(c.Path())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			cleanUp()
		}
	}()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a crawl that was killed
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(c.Path(), controlFile)
	if err := os.WriteFile(file, []byte(name+"\n"), 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: controlHandler(c), ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // ends with Close
	}()
	return func() {
		_ = server.Close()
		<-done
		_ = os.Remove(file)
		cleanUp()
	}, nil
}

func controlHandler(c *crawl.Crawl) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) { reply(w, c.Stats(), nil) })
	mux.HandleFunc("GET /explain", func(w http.ResponseWriter, r *http.Request) {
		e, err := c.View().Explain(r.URL.Query().Get("url"))
		reply(w, e, err)
	})
	mux.HandleFunc("GET /false-positives", func(w http.ResponseWriter, _ *http.Request) {
		list, err := c.View().FalsePositives()
		reply(w, list, err)
	})
	mux.HandleFunc("GET /urls", func(w http.ResponseWriter, r *http.Request) {
		enc := json.NewEncoder(w)
		for e, err := range c.View().URLs(r.URL.Query().Get("state")) {
			if err != nil {
				_ = enc.Encode(urlsLine{Error: err.Error()})
				return
			}
			if enc.Encode(urlsLine{Entry: &e}) != nil {
				return // the asker has gone
			}
		}
		_ = enc.Encode(urlsLine{End: true})
	})
	return mux
}

// urlsLine is a line of the answer to /urls: an entry, an error, or the end, without which the list is not complete.
type urlsLine struct {
	Entry *crawl.Entry `json:"entry,omitempty"`
	Error string       `json:"error,omitempty"`
	End   bool         `json:"end,omitempty"`
}

func reply(w http.ResponseWriter, v any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // fails only if the asker has gone
}

// asker asks a running crawl.
type asker struct{ client *http.Client }

// errNotRunning means that no crawl runs on a data directory.
var errNotRunning = errors.New("no crawl runs on the data directory")

// dialControl returns an asker for the crawl that runs on a data directory, or errNotRunning.
func dialControl(data string) (*asker, error) {
	text, err := os.ReadFile(filepath.Join(data, controlFile))
	if err != nil {
		return nil, errNotRunning
	}
	path := strings.TrimSpace(string(text))
	if !filepath.IsAbs(path) {
		path = filepath.Join(data, path)
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	conn, err := dial(context.Background(), "", "")
	if err != nil {
		return nil, errNotRunning // it was killed, and left its file behind
	}
	_ = conn.Close()
	return &asker{&http.Client{Transport: &http.Transport{DialContext: dial}}}, nil
}

// get asks for a path and decodes the answer with read.
func (a *asker) get(ctx context.Context, path string, query url.Values, read func(*json.Decoder) error) error {
	target := url.URL{Scheme: "http", Host: "control", Path: path, RawQuery: query.Encode()}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return err
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return fmt.Errorf("asking the running crawl: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
		return fmt.Errorf("the running crawl answers: %s", strings.TrimSpace(string(text)))
	}
	return read(json.NewDecoder(resp.Body))
}
