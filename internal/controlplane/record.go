package controlplane

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// record lists the processes of the running instance in a file, for the next
// instance to end what this one may leave behind.
type record struct {
	path    string
	entries []entry
}

// entry names a process; the start time tells it from a later one with its id.
type entry struct {
	Name    string `json:"name"`
	PID     int    `json:"pid"`
	Started string `json:"started"`
}

func (r *record) add(name string, pid int) error {
	r.entries = append(r.entries, entry{Name: name, PID: pid, Started: startTime(pid)})
	return r.write(r.entries)
}

func (r *record) write(entries []entry) error {
	content, err := json.Marshal(entries)
	if err != nil {
		return fmt.Errorf("encode process record: %w", err)
	}
	return replaceFile(r.path, content)
}

// endAll kills each recorded process that still runs. A record that cannot be
// read names nobody: it was cut off while the first process was starting.
func (r *record) endAll() error {
	content, err := os.ReadFile(r.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read process record: %w", err)
	}
	if !json.Valid(content) {
		return nil
	}
	var left []entry
	if err := json.Unmarshal(content, &left); err != nil {
		return fmt.Errorf("decode process record %s: %w", r.path, err)
	}
	for _, e := range left {
		if err := e.end(); err != nil {
			return err
		}
	}
	return nil
}

func (e entry) end() error {
	const patience = 10 * time.Second
	for deadline := time.Now().Add(patience); e.runs(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("%s of an earlier start (process %d) does not end; end it by hand", e.Name, e.PID)
		}
		if err := syscall.Kill(e.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("end %s of an earlier start (process %d): %w", e.Name, e.PID, err)
		}
	}
	return nil
}

func (e entry) runs() bool {
	return e.Started != "" && startTime(e.PID) == e.Started
}

// replaceFile writes a file so that no reader, and no next start, finds half of it.
func replaceFile(path string, content []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(content)
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
