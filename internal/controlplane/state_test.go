package controlplane

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPKIHealsItself(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		damage func(t *testing.T, p *pki)
		sameCA bool
	}{
		"nothing happened":                       {func(*testing.T, *pki) {}, true},
		"the server's key is cut off":            {func(t *testing.T, p *pki) { cutOff(t, p.path("apiserver.key")) }, true},
		"the service account key is empty":       {func(t *testing.T, p *pki) { write(t, p.path("service-accounts.key"), "") }, true},
		"the authority's key is gone":            {func(t *testing.T, p *pki) { remove(t, p.path("ca.key")) }, false},
		"the authority's certificate is cut off": {func(t *testing.T, p *pki) { cutOff(t, p.path("ca.crt")) }, false},
		"key and certificate do not belong together": {func(t *testing.T, p *pki) {
			_, key, err := newKey()
			if err != nil {
				t.Fatal(err)
			}
			write(t, p.path("ca.key"), string(key))
		}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			before, err := loadPKI(folder)
			if err != nil {
				t.Fatal(err)
			}
			test.damage(t, before)
			after, err := loadPKI(folder)
			if err != nil {
				t.Fatal(err)
			}
			if same := before.ca.cert.Equal(after.ca.cert); same != test.sameCA {
				t.Errorf("the same authority: %t, want %t", same, test.sameCA)
			}
			again, err := loadPKI(folder)
			if err != nil {
				t.Fatal(err)
			}
			if !after.ca.cert.Equal(again.ca.cert) {
				t.Error("the healed authority does not stay")
			}
		})
	}
}

func TestServiceAccountKeyStaysOverStarts(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	keys := [2]string{}
	for i := range keys {
		p, err := loadPKI(folder)
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = read(t, p.path("service-accounts.key"))
	}
	if diff := cmp.Diff(keys[0], keys[1]); diff != "" {
		t.Errorf("tokens of the start before would be refused:\n%s", diff)
	}
}

func TestChoosePort(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		remembered func(t *testing.T) string
		wantSame   bool
		wantSaid   bool
	}{
		"the port of the last start is taken again": {
			remembered: func(t *testing.T) string { return strconv.Itoa(unusedPort(t)) + "\n" },
			wantSame:   true,
		},
		"a port that another program has is replaced, and that is said": {
			remembered: func(t *testing.T) string { return strconv.Itoa(usedPort(t)) },
			wantSaid:   true,
		},
		"an empty file is as none":  {remembered: func(*testing.T) string { return "" }},
		"nonsense is as none":       {remembered: func(*testing.T) string { return "65536000" }},
		"port zero is not accepted": {remembered: func(*testing.T) string { return "0" }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "port")
			remembered := test.remembered(t)
			write(t, path, remembered)
			var said []string
			port, err := choosePort(path, func(s string) { said = append(said, s) })
			if err != nil {
				t.Fatal(err)
			}
			if same := strconv.Itoa(port) == strings.TrimSpace(remembered); same != test.wantSame {
				t.Errorf("port %d after %q", port, remembered)
			}
			if (len(said) > 0) != test.wantSaid {
				t.Errorf("said %q", said)
			}
			if diff := cmp.Diff(strconv.Itoa(port), strings.TrimSpace(read(t, path))); diff != "" {
				t.Errorf("remembered:\n%s", diff)
			}
		})
	}
}

func TestOneInstanceHoldsTheFolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	first, err := acquireLock(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = acquireLock(path)
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("the second one gets %v", err)
	}
	if err := first.release(); err != nil {
		t.Fatal(err)
	}
	third, err := acquireLock(path)
	if err != nil {
		t.Fatalf("after the release: %v", err)
	}
	if err := third.release(); err != nil {
		t.Fatal(err)
	}
}

func TestRecordEndsWhatItNamesAndNothingElse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change   func(*entry)
		wantRuns bool
	}{
		"a recorded process is ended":              {func(*entry) {}, false},
		"a later process with its id is let live":  {func(e *entry) { e.Started = "1" }, true},
		"one whose start is not known is let live": {func(e *entry) { e.Started = "" }, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "sleep", "600")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			// Somebody has to wait for a child, or it stays a zombie.
			ended := make(chan struct{})
			go func() {
				_, _ = cmd.Process.Wait()
				close(ended)
			}()
			r := record{path: filepath.Join(t.TempDir(), "processes.json")}
			e := entry{Name: "sleep", PID: cmd.Process.Pid, Started: startTime(cmd.Process.Pid)}
			test.change(&e)
			if err := r.write([]entry{e}); err != nil {
				t.Fatal(err)
			}
			if err := r.endAll(); err != nil {
				t.Fatal(err)
			}
			if runs := startTime(cmd.Process.Pid) != ""; runs != test.wantRuns {
				t.Errorf("it runs: %t, want %t", runs, test.wantRuns)
			}
			if test.wantRuns {
				if err := cmd.Process.Kill(); err != nil {
					t.Error(err)
				}
			}
			<-ended
		})
	}
}

func TestRecordThatIsCutOffNamesNobody(t *testing.T) {
	t.Parallel()
	r := record{path: filepath.Join(t.TempDir(), "processes.json")}
	write(t, r.path, `[{"name":"etcd","pid":`)
	if err := r.endAll(); err != nil {
		t.Error(err)
	}
}

func TestIncompleteStateIsPutAside(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files     []string
		wantAside bool
	}{
		"the first start ended early":     {files: []string{"data/member"}, wantAside: true},
		"the first start came to its end": {files: []string{"data/member", "complete"}},
		"there never was a start":         {},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "etcd")
			for _, file := range test.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, file)), 0o700); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(folder, file), "x")
			}
			if err := putAsideUnless(filepath.Join(folder, "complete"), folder); err != nil {
				t.Fatal(err)
			}
			_, err := os.Stat(folder + ".incomplete")
			if aside := err == nil; aside != test.wantAside {
				t.Errorf("put aside: %t, want %t", aside, test.wantAside)
			}
		})
	}
}

func unusedPort(t *testing.T) int {
	t.Helper()
	port, err := freePort(0)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func usedPort(t *testing.T) int {
	t.Helper()
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

func cutOff(t *testing.T, path string) {
	t.Helper()
	content := read(t, path)
	write(t, path, content[:len(content)/2])
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
