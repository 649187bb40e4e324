package dev

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// logLimit is the size at which a start puts the log aside.
const logLimit = 10 << 20

// openLog opens the log to append to it, after putting a long one aside.
func openLog(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > logLimit {
		err = os.Rename(path, path+".1")
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("put the old log aside: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return file, nil
}
