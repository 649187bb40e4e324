package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// linkFromPath links to the programs on PATH when every name of the product is
// there in exactly the pinned version, and tells if so.
func (b builder) linkFromPath(ctx context.Context, p product) (bool, error) {
	found := map[string]string{}
	for _, t := range p.tools {
		path, ok := b.findOnPath(ctx, t)
		if !ok {
			return false, nil
		}
		found[t.name] = path
	}
	// A link must not be written over: the name may be a program built before.
	if _, ok := found[p.name]; !ok {
		if err := os.RemoveAll(filepath.Join(b.bin(), p.name)); err != nil {
			return false, fmt.Errorf("remove %s: %w", p.name, err)
		}
	}
	for _, t := range p.tools {
		if err := replaceLink(found[t.name], filepath.Join(b.bin(), t.name)); err != nil {
			return false, err
		}
		b.screen.say("%s %s: using %s.", t.name, t.version, found[t.name])
	}
	return true, nil
}

// findOnPath returns the first program on PATH that reports the tool's version.
// The bin folder may be on PATH itself, and is passed over.
func (b builder) findOnPath(ctx context.Context, t tool) (string, bool) {
	if len(t.ask) == 0 {
		return "", false
	}
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		if folder == b.bin() || !filepath.IsAbs(folder) {
			continue
		}
		path, err := exec.LookPath(filepath.Join(folder, t.name))
		if err == nil && says(ctx, path, t) {
			return path, true
		}
	}
	return "", false
}

// says asks a program for its version and tells if it is the tool's.
func says(ctx context.Context, path string, t tool) bool {
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, t.ask...).CombinedOutput()
	return err == nil && reports(string(out), t.version)
}

// reports tells if a version stands in the output as a word, with or without v.
func reports(output, version string) bool {
	return slices.ContainsFunc(strings.Fields(output), func(word string) bool {
		return strings.TrimPrefix(word, "v") == strings.TrimPrefix(version, "v")
	})
}
