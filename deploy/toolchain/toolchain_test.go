package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReports(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		output, version string
		want            bool
	}{
		"the pulumi CLI says only its version":       {"v3.219.0\n", "3.219.0", true},
		"etcd says it among other things":            {"etcd Version: 3.7.0\nGit SHA: abc\n", "3.7.0", true},
		"kube-apiserver says it with a v":            {"Kubernetes v1.37.2\n", "v1.37.2", true},
		"another patch release is another version":   {"Kubernetes v1.37.20\n", "v1.37.2", false},
		"a release candidate is another version":     {"Kubernetes v1.37.2-rc.1\n", "v1.37.2", false},
		"a build with local changes is another one":  {"v3.219.0+dirty\n", "3.219.0", false},
		"a program that says nothing is not the one": {"", "3.219.0", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := reports(test.output, test.version); got != test.want {
				t.Errorf("reports(%q, %q) = %t", test.output, test.version, got)
			}
		})
	}
}

func TestIsImportPath(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		line string
		want bool
	}{
		"a package of a module":      {"k8s.io/api/core/v1", true},
		"a package of the library":   {"net/http", true},
		"a download":                 {"go: downloading k8s.io/api v0.37.2", false},
		"the head of compile errors": {"# k8s.io/api/core/v1", false},
		"a compile error":            {"./main.go:3:5: undefined: x", false},
		"an empty line":              {"", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := isImportPath(test.line); got != test.want {
				t.Errorf("isImportPath(%q) = %t", test.line, got)
			}
		})
	}
}

func TestWithVersionKeepsTheRestOfTheSchema(t *testing.T) {
	t.Parallel()
	got, err := withVersion([]byte(`{"name":"kubernetes","version":"","types":{"a":{"x":1.50}}}`), "4.25.0")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"kubernetes","types":{"a":{"x":1.50}},"version":"4.25.0"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestEveryProductIsPinned(t *testing.T) {
	t.Parallel()
	modules, err := readModules(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		for _, p := range m.products {
			if flags := linkerFlags(p); strings.Contains(flags, "= ") || strings.HasSuffix(flags, "=") {
				t.Errorf("%s: a symbol is set to nothing: %s", p.name, flags)
			}
			for _, tool := range p.tools {
				if tool.version == "" || tool.version == "v" {
					t.Errorf("%s has no version", tool.name)
				}
			}
		}
	}
}

// The tests below build a program small enough to build in a moment.
func TestUpdate(t *testing.T) {
	hello := product{
		name: "hello", pkg: ".", symbols: map[string]string{"main.version": "1.2.3"},
		tools: []tool{{name: "hi", version: "1.2.3", ask: []string{"--version"}}},
	}
	tests := map[string]struct {
		// between happens after a first update; the second one is looked at.
		between   func(t *testing.T, source string, b builder)
		wantBuild bool
		wantSays  string
	}{
		"what is current is left alone": {
			between:  func(*testing.T, string, builder) {},
			wantSays: "1.2.3",
		},
		"a changed main is built again": {
			between: func(t *testing.T, source string, _ builder) {
				writeFile(t, filepath.Join(source, "main.go"), strings.ReplaceAll(helloMain, "println(version)", `println("new")`))
			},
			wantBuild: true,
			wantSays:  "new",
		},
		"a removed name is made again": {
			between: func(t *testing.T, _ string, b builder) {
				if err := os.Remove(filepath.Join(b.bin(), "hi")); err != nil {
					t.Fatal(err)
				}
			},
			wantBuild: true,
			wantSays:  "1.2.3",
		},
		"what an interrupted build left does not matter": {
			between: func(t *testing.T, _ string, b builder) {
				if err := os.Remove(filepath.Join(b.stamps(), "hello")); err != nil {
					t.Fatal(err)
				}
				if err := os.Mkdir(filepath.Join(b.output, "building"), 0o755); err != nil {
					t.Fatal(err)
				}
				writeFile(t, filepath.Join(b.output, "building", "hello"), "half a program")
			},
			wantBuild: true,
			wantSays:  "1.2.3",
		},
		"the pinned version on PATH is used": {
			between: func(t *testing.T, _ string, b builder) {
				onPath(t, "hi", "1.2.3")
				if err := os.Remove(filepath.Join(b.stamps(), "hello")); err != nil {
					t.Fatal(err)
				}
			},
			wantSays: "hi version 1.2.3",
		},
		"the pinned version is found behind what was built before": {
			between: func(t *testing.T, _ string, b builder) {
				onPath(t, "hi", "1.2.3")
				t.Setenv("PATH", b.bin()+string(filepath.ListSeparator)+os.Getenv("PATH"))
				if err := os.Remove(filepath.Join(b.stamps(), "hello")); err != nil {
					t.Fatal(err)
				}
			},
			wantSays: "hi version 1.2.3",
		},
		"another version on PATH is not used": {
			between: func(t *testing.T, _ string, b builder) {
				onPath(t, "hi", "1.2.4")
				if err := os.Remove(filepath.Join(b.stamps(), "hello")); err != nil {
					t.Fatal(err)
				}
			},
			wantBuild: true,
			wantSays:  "1.2.3",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			source := t.TempDir()
			writeFile(t, filepath.Join(source, "go.mod"), "module example.com/hello\n\ngo 1.26.0\n")
			writeFile(t, filepath.Join(source, "main.go"), helloMain)
			m := module{name: "hello", folder: source, products: []product{hello}}
			b, said := startBuilder(t)
			if err := b.update(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			before := said()

			test.between(t, source, b)
			if err := b.update(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			news := strings.TrimPrefix(said(), before)
			if built := strings.Contains(news, "built in"); built != test.wantBuild {
				t.Errorf("built again: %t, want %t; it said:\n%s", built, test.wantBuild, news)
			}
			out, err := exec.CommandContext(t.Context(), filepath.Join(b.bin(), "hi")).CombinedOutput()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.wantSays, strings.TrimSpace(string(out))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUpdateShowsWhatTheCompilerSays(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	writeFile(t, filepath.Join(source, "go.mod"), "module example.com/hello\n\ngo 1.26.0\n")
	writeFile(t, filepath.Join(source, "main.go"), "package main\n\nfunc main() { undefinedName() }\n")
	b, _ := startBuilder(t)
	err := b.update(t.Context(), module{name: "hello", folder: source, products: []product{{name: "hello", pkg: ".", tools: []tool{{name: "hello", version: "1"}}}}})
	if err == nil || !strings.Contains(err.Error(), "undefined: undefinedName") {
		t.Errorf("the error is %v", err)
	}
	if entries, _ := os.ReadDir(b.bin()); len(entries) != 0 {
		t.Errorf("the bin folder holds %v after a failed build", entries)
	}
}

const helloMain = `package main

var version string

func main() { println(version) }
`

// startBuilder returns a builder with an empty output folder, and what it has
// said so far.
func startBuilder(t *testing.T) (b builder, said func() string) {
	t.Helper()
	output := t.TempDir()
	screenFile, err := os.Create(filepath.Join(t.TempDir(), "screen"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screenFile.Close() })
	b = builder{output: output, screen: newScreen(screenFile)}
	for _, folder := range []string{b.bin(), b.stamps()} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return b, func() string {
		content, err := os.ReadFile(screenFile.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
}

// onPath puts a program that reports a version first on PATH.
func onPath(t *testing.T, name, version string) {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, name)
	writeFile(t, path, "#!/bin/sh\necho "+name+" version "+version+"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
