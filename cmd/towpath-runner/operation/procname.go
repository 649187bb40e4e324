package operation

import (
	"fmt"
	"os"
	"strings"
)

// programName is the name of the program that a process runs.
func programName(pid int) (string, error) {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return "", fmt.Errorf("read the name of process %d: %w", pid, err)
	}
	return strings.TrimSpace(string(name)), nil
}
