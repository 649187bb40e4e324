package controlplane

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// choosePort returns a free port on the loopback interface: the one of the last
// start, so that kubeconfigs stay right, or a new one if that is taken.
func choosePort(path string, progress func(string)) (int, error) {
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, fmt.Errorf("read remembered port: %w", err)
	}
	// A file that was cut off holds no port, or one as good as any other.
	if last, err := strconv.ParseUint(strings.TrimSpace(string(content)), 10, 16); err == nil && last != 0 {
		// An API server that was killed may hold its port for a moment after it
		// counts as ended.
		for deadline := time.Now().Add(portPatience); time.Now().Before(deadline); time.Sleep(portPatience / 100) {
			if port, err := freePort(int(last)); err == nil {
				return port, nil
			}
		}
		progress(fmt.Sprintf("Port %d of the last start is taken by another program; the API server gets a new one.", last))
	}
	port, err := freePort(0)
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return port, replaceFile(path, []byte(strconv.Itoa(port)+"\n"))
}

const portPatience = 2 * time.Second

// freePort returns wanted if it is free, or one that the kernel chooses for 0.
func freePort(wanted int) (int, error) {
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: wanted})
	if err != nil {
		return 0, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return port, listener.Close()
}
