package portal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Child is the process id of the portal's own process of a name, such as
// kube-apiserver.
func (p *Portal) Child(name string) (int, error) {
	found, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, path := range found {
		parent, err := parentOf(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has ended meanwhile
		}
		if err != nil {
			return 0, err
		}
		if parent != p.PID() {
			continue
		}
		line, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if err != nil {
			return 0, fmt.Errorf("read a command line: %w", err)
		}
		program, _, _ := bytes.Cut(line, []byte{0})
		if filepath.Base(string(program)) == name {
			return strconv.Atoi(filepath.Base(filepath.Dir(path)))
		}
	}
	return 0, fmt.Errorf("the portal has no process %q", name)
}

// parentOf reads the parent's id from a stat file of /proc. The program's name is
// in brackets and may hold anything.
func parentOf(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 2 {
		return 0, fmt.Errorf("%s is not as expected: %q", path, text)
	}
	return strconv.Atoi(fields[1])
}
