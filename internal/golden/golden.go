// Package golden compares what a test got with a file of what it should be. Run a
// test with -update to write the files anew. It must not be imported by anything
// but tests.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Compare compares got with the file of this name in testdata.
func Compare(tb testing.TB, name, got string) {
	tb.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			tb.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		tb.Fatalf("read the golden file: %v; write it with -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		tb.Errorf("%s: write it anew with -update if it is meant:\n%s", name, diff)
	}
}
