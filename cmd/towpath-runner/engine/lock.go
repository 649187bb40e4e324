package engine

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// lockLine is how the self-managed backends name a lock's holder.
var lockLine = regexp.MustCompile(`created by (.*)@(.*) \(pid (\d+)\) at (\S+)`)

// parseLocks finds the locks that an error of the engine lists.
func parseLocks(text string) []Lock {
	var locks []Lock
	for _, match := range lockLine.FindAllStringSubmatch(text, -1) {
		pid, err := strconv.Atoi(match[3])
		if err != nil {
			continue
		}
		locks = append(locks, Lock{User: match[1], Host: match[2], PID: pid, Since: match[4]})
	}
	return locks
}

func describeLocks(locks []Lock) string {
	if len(locks) == 0 {
		return "another operation"
	}
	holders := make([]string, len(locks))
	for i, lock := range locks {
		holders[i] = fmt.Sprintf("%s on %s (process %d, since %s)", lock.User, lock.Host, lock.PID, lock.Since)
	}
	return strings.Join(holders, " and ")
}
