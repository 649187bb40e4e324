package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ErrInUse is the error of a start on a folder that another instance uses.
var ErrInUse = errors.New("the state folder is in use")

// lock holds a state folder for this process. The kernel releases it when the
// process ends, however it ends.
type lock struct {
	file *os.File
}

func acquireLock(path string) (*lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder := holderOf(path)
		return nil, errors.Join(fmt.Errorf("%w: %s runs in %s; stop it first, or use another folder", ErrInUse, holder, filepath.Dir(path)), file.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	// The number only serves the sentence above; the lock is the flock.
	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("write lock file: %w", err), file.Close())
	}
	return &lock{file: file}, nil
}

// release gives the folder back. The file stays: removing it would let two
// processes hold two files of the same name.
func (l *lock) release() error {
	return l.file.Close()
}

func holderOf(path string) string {
	content, err := os.ReadFile(path)
	if pid := strings.TrimSpace(string(content)); err == nil && pid != "" {
		return "process " + pid
	}
	return "another process"
}
