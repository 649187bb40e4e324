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

// findOnPath returns a program on PATH that reports the tool's version.
func (b builder) findOnPath(ctx context.Context, t tool) (string, bool) {
	if len(t.ask) == 0 {
		return "", false
	}
	path, err := exec.LookPath(t.name)
	if err != nil || filepath.Dir(path) == b.bin() {
		return "", false
	}
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, t.ask...).CombinedOutput()
	if err != nil || !reports(string(out), t.version) {
		return "", false
	}
	return path, true
}

// reports tells if a version stands in the output as a word, with or without v.
func reports(output, version string) bool {
	return slices.ContainsFunc(strings.Fields(output), func(word string) bool {
		return strings.TrimPrefix(word, "v") == strings.TrimPrefix(version, "v")
	})
}
