package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// stampOf digests all that a product is made of: the module's files, the linker
// flags, and the Go that builds it.
func stampOf(ctx context.Context, m module, p product) (string, error) {
	goEnv, err := goOutput(ctx, m.folder, "env", "GOVERSION", "GOOS", "GOARCH", "CGO_ENABLED", "GOFLAGS")
	if err != nil {
		return "", err
	}
	digest := sha256.New()
	fmt.Fprintf(digest, "%s\n%s\n%s\n", goEnv, p.pkg, linkerFlags(p))
	err = filepath.WalkDir(m.folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isSource(p, m.folder, path) {
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(digest, "%s %d\n", entry.Name(), len(content))
		digest.Write(content)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the sources of %s: %w", p.name, err)
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

// isSource tells if a file of the module is part of the product: go.mod, go.sum
// and, for a main of our own, the Go files of its folder.
func isSource(p product, folder, path string) bool {
	switch filepath.Base(path) {
	case "go.mod", "go.sum":
		return true
	}
	return strings.HasPrefix(p.pkg, ".") && filepath.Ext(path) == ".go" &&
		filepath.Dir(path) == filepath.Join(folder, p.pkg)
}

// current tells if a product was made with the stamp and all its names are there.
func (b builder) current(ctx context.Context, p product, stamp string) bool {
	have, err := os.ReadFile(filepath.Join(b.stamps(), p.name))
	if err != nil || string(have) != stamp {
		return false
	}
	for _, t := range p.tools {
		path := filepath.Join(b.bin(), t.name)
		if _, err := os.Stat(path); err != nil {
			return false
		}
		// A program elsewhere may have become another version since it was linked.
		if target, err := os.Readlink(path); err == nil && filepath.IsAbs(target) {
			if found, ok := b.findOnPath(ctx, t); !ok || found != target {
				return false
			}
		}
	}
	return true
}

// replaceLink makes a symbolic link in one step, whatever was there before.
func replaceLink(target, path string) error {
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("link %s: %w", path, err)
	}
	if err := os.Symlink(target, temp); err != nil {
		return fmt.Errorf("link %s: %w", path, err)
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("link %s: %w", path, err)
	}
	return nil
}
