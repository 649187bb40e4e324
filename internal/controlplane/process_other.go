//go:build unix && !linux

package controlplane

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// childAttributes puts a child into a process group of its own. Children outlive
// a killed parent here; the next start ends them.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// startTime returns when a process started, or nothing if none runs.
func startTime(pid int) string {
	out, err := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
