//go:build unix

package storage_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"crawler/storage"
)

// The test binary runs itself as another process that does what this variable says.
const roleVariable = "STORAGE_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role, os.Args[1]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// play is the other process. What it writes goes to the test.
func play(role, path string) error {
	switch role {
	case "create", "read":
		open := storage.OpenDir
		if role == "create" {
			open = func(path string) (*storage.Dir, error) { return storage.CreateDir(path, 1) }
		}
		d, err := open(path)
		if errors.Is(err, storage.ErrUnwritable) {
			err = errors.New("unwritable")
		}
		if err != nil {
			return err
		}
		fmt.Println("ok")
		return d.Close()
	case "hold":
		if _, err := storage.CreateDir(path, 1); err != nil {
			return err
		}
		fmt.Println("holding")
		_, err := io.Copy(io.Discard, os.Stdin) // until it is killed
		return err
	case "commit":
		return commitOn(path, storage.Options{})
	case "fill":
		return fillDisk(path)
	}
	return fmt.Errorf("no role %q", role)
}

// commitOn admits URLs, settles those before them, and tells the newest after each commit.
func commitOn(path string, opt storage.Options) error {
	s, err := storage.OpenStore(path, opt)
	if err != nil {
		return err
	}
	for {
		var last storage.ID
		if err := s.Update(func(tx *storage.Tx) error {
			last = tx.Last()
			return grow(tx, 50)
		}); err != nil {
			return err
		}
		fmt.Println(uint64(last) + 50)
	}
}

// fillDisk fills the store until its file may grow no more, and says how far it got.
func fillDisk(path string) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	low := limit
	low.Cur = 20 << 20
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &low); err != nil {
		return err
	}
	s, err := storage.OpenStore(path, storage.Options{})
	if err != nil {
		return err
	}
	if err := s.Update(func(tx *storage.Tx) error { return tx.SetMeta("ballast", make([]byte, 15<<20)) }); err != nil {
		return err
	}
	if err := growUntilRefused(s); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	if err := s.Update(func(*storage.Tx) error { return nil }); err == nil {
		return errors.New("writes after a failed commit")
	}
	return s.Close()
}

// growUntilRefused grows a store until the disk is full, says how far it got, and looks that it can still be read.
func growUntilRefused(s *storage.Store) error {
	acknowledged := storage.ID(0)
	for {
		var last storage.ID
		err := s.Update(func(tx *storage.Tx) error {
			if err := grow(tx, 100); err != nil {
				return err
			}
			last = tx.Last()
			return nil
		})
		if err != nil {
			break
		}
		acknowledged = last
	}
	fmt.Println(uint64(acknowledged))
	return s.View(func(tx *storage.Tx) error {
		if tx.Last() < acknowledged {
			return fmt.Errorf("reads %d of %d URLs", tx.Last(), acknowledged)
		}
		return nil
	})
}

// process is the test binary in another role.
type process struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func start(t *testing.T, role, path string) *process {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	return startCommand(t, exec.Command(exe, path), role)
}

func startCommand(t *testing.T, cmd *exec.Cmd, role string) *process {
	t.Helper()
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	_, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // where it has not ended
		_ = cmd.Wait()
	})
	return &process{cmd, bufio.NewScanner(out)}
}

// startAsNobody starts a process without the rights of root.
func startAsNobody(t *testing.T, role, path string) *process {
	t.Helper()
	if os.Getuid() != 0 {
		return start(t, role, path)
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Skip("runs as root, to which all is writable, and there is no nobody to run as")
	}
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	must(t, err)
	exe, err := os.Executable()
	must(t, err)
	binary, err := os.ReadFile(exe) // where nobody may run it
	must(t, err)
	dir, err := os.MkdirTemp("", "nobody")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	name := filepath.Join(dir, "test")
	must(t, os.WriteFile(name, binary, 0o755))
	cmd := exec.Command(name, path)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	return startCommand(t, cmd, role)
}

func (p *process) line(t *testing.T) string {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatalf("the other process says nothing more: %v", p.lines.Err())
	}
	return p.lines.Text()
}

// kill kills the process, and returns what it had still said.
func (p *process) kill(t *testing.T) (rest []string) {
	t.Helper()
	must(t, p.cmd.Process.Kill())
	for p.lines.Scan() {
		rest = append(rest, p.lines.Text())
	}
	_ = p.cmd.Wait() // says that it was killed
	return rest
}

func number(t *testing.T, text string) storage.ID {
	t.Helper()
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("the other process says %q", text)
	}
	return storage.ID(n)
}

func TestWhatWasAcknowledgedOutlivesAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	for round := range 8 {
		p := start(t, "commit", path)
		var acknowledged storage.ID
		for range 1 + 5*round {
			acknowledged = number(t, p.line(t))
		}
		for _, text := range p.kill(t) {
			acknowledged = number(t, text)
		}
		grown(t, path, acknowledged, 50)
	}
}

func TestAFileThatMayNotGrowFailsTheUpdateAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	p := start(t, "fill", path)
	acknowledged := number(t, p.line(t))
	for p.lines.Scan() {
		t.Errorf("the process says %q", p.lines.Text())
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the process: %v", err)
	}
	grown(t, path, acknowledged, 100)
}

func TestAFullDiskFailsTheUpdateAlone(t *testing.T) {
	dir := mountSmall(t)
	path := filepath.Join(dir, "store.db")
	s := open(t, path, storage.Options{})
	var acknowledged, last storage.ID
	var err error
	for err == nil {
		acknowledged = last
		err = s.Update(func(tx *storage.Tx) error {
			err := grow(tx, 100)
			last = tx.Last()
			return err
		})
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want ENOSPC", err)
	}
	must(t, s.Check())
	must(t, s.Close())

	whole, err := os.ReadFile(path) // room again
	must(t, err)
	path = filepath.Join(t.TempDir(), "store.db")
	must(t, os.WriteFile(path, whole, 0o644))
	grown(t, path, acknowledged, 100)
}

func mountSmall(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("knows no other system's small file system")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("a small file system cannot be mounted: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

func TestAnotherProcessKeepsADirectory(t *testing.T) {
	path := newDir(t)
	other := start(t, "hold", path)
	if got := other.line(t); got != "holding" {
		t.Fatalf("the other process says %q", got)
	}
	_, err := storage.CreateDir(path, 2)
	refused(t, err, storage.ErrInUse, path)
	_, err = storage.OpenDir(path)
	refused(t, err, storage.ErrInUse, path)
	_, err = storage.OpenStore(filepath.Join(path, "p/0000/store.db"), storage.Options{})
	refused(t, err, storage.ErrInUse, "store.db", "another crawler runs on it")
	other.kill(t)
	must(t, create(t, path, 2).Close()) // a lock dies with its process
}

func TestADirectoryThatCannotBeWritten(t *testing.T) {
	sound := newDir(t)
	parent := t.TempDir()
	must(t, os.Chmod(parent, 0o555))
	for dir := sound; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755)) // nobody may look
	}
	for dir := filepath.Dir(parent); len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	must(t, filepath.WalkDir(sound, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			err = os.Chmod(path, 0o444)
		}
		return err
	}))
	for path, want := range map[string]string{
		parent:                         "unwritable",
		filepath.Join(parent, "crawl"): "unwritable",
		sound:                          "unwritable",
	} {
		if got := startAsNobody(t, "create", path).line(t); got != want {
			t.Errorf("creating %s: got %q, want %q", path, got, want)
		}
	}
	if got := startAsNobody(t, "read", sound).line(t); got != "ok" {
		t.Errorf("reading %s: got %q, want ok", sound, got)
	}
}
