package controlplane

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// childAttributes puts a child into a process group of its own, so that Ctrl-C
// in a terminal reaches it through Stop alone, and lets it die with its parent.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// startTime returns when a process started, in clock ticks since the boot: with
// the process id it names one process for good. It is empty if none runs.
func startTime(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The second field is the program's name in parentheses and may hold anything,
	// more parentheses too.
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	const stateField, startField = 0, 19
	fields := bytes.Fields(rest)
	if len(fields) <= startField || string(fields[stateField]) == "Z" {
		return ""
	}
	return string(fields[startField])
}
