package dev

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestALogIsContinuedUntilItIsLong(t *testing.T) {
	for name, test := range map[string]struct {
		size      int64
		wantAside bool
	}{
		"no log yet":       {-1, false},
		"a short log":      {100, false},
		"a log at limit":   {logLimit, false},
		"a log over limit": {logLimit + 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "towpath.log")
			if test.size >= 0 {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Truncate(path, test.size); err != nil {
					t.Fatal(err)
				}
			}
			file, err := openLog(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.WriteString("next"); err != nil {
				t.Fatal(err)
			}
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}

			want := max(test.size, 0) + int64(len("next"))
			if test.wantAside {
				want = int64(len("next"))
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, info.Size()); diff != "" {
				t.Errorf("size of the log:\n%s", diff)
			}
			if _, err := os.Stat(path + ".1"); (err == nil) != test.wantAside {
				t.Errorf("an old log is put aside: %v; want %v", err == nil, test.wantAside)
			}
		})
	}
}
