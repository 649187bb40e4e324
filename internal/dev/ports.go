package dev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/towpath-dev/towpath/internal/fault"
)

const (
	portsFile = "ports.json"
	// portalPort is tried first; the issuer has the next one that is free.
	portalPort = 8484
	// portsTried bounds the search for a free one.
	portsTried = 50
)

// ports are where the portal and its issuer listen. They are remembered, because
// sessions and bookmarks belong to an address.
type ports struct {
	Portal int `json:"portal"`
	Issuer int `json:"issuer"`
}

// listeners are the open ports.
type listeners struct{ portal, issuer net.Listener }

func (l listeners) close() error {
	var err error
	for _, listener := range []net.Listener{l.portal, l.issuer} {
		if listener == nil {
			continue
		}
		// Whoever served on it has closed it already.
		if e := listener.Close(); e != nil && !errors.Is(e, net.ErrClosed) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// listen opens the ports: the one that was asked for, or else those of the last
// start, or the next that are free.
func (s *session) listen(ctx context.Context) (open listeners, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, open.close())
		}
	}()
	path := filepath.Join(s.dir, portsFile)
	known, err := readPorts(path)
	if err != nil {
		return open, err
	}
	want := known.Portal
	if s.Port != 0 {
		want = s.Port
	}
	if want == 0 {
		want = portalPort
	}
	tried := portsTried
	if s.Port != 0 {
		tried = 1
	}
	if open.portal, err = listenFrom(ctx, want, tried); err != nil {
		return open, fault.New(fault.Unavailable, err, "Port %d is taken by another program. Choose another one with --port.", want)
	}
	used := ports{Portal: port(open.portal)}
	if used.Portal != want {
		s.say("Port %d is taken by another program; the portal is on %d, and will be next time.", want, used.Portal)
	}
	if known.Issuer == 0 {
		known.Issuer = used.Portal + 1
	}
	if open.issuer, err = listenFrom(ctx, known.Issuer, portsTried); err != nil {
		return open, fault.New(fault.Unavailable, err, "There is no free port near %d for signing in.", known.Issuer)
	}
	used.Issuer = port(open.issuer)
	content, err := json.Marshal(used)
	if err != nil {
		return open, fmt.Errorf("encode ports: %w", err)
	}
	if err := writeFile(path, content); err != nil {
		return open, fmt.Errorf("remember ports: %w", err)
	}
	return open, nil
}

func readPorts(path string) (known ports, err error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ports{}, nil
	}
	if err != nil {
		return ports{}, fmt.Errorf("read the ports of the last start: %w", err)
	}
	if !json.Valid(content) {
		return ports{}, nil // cut short: as good as none
	}
	if err := json.Unmarshal(content, &known); err != nil {
		return ports{}, fmt.Errorf("read the ports of the last start: %w", err)
	}
	return known, nil
}

// listenFrom listens on the loopback interface, on the first free of some ports.
func listenFrom(ctx context.Context, first, tried int) (net.Listener, error) {
	var config net.ListenConfig
	var err error
	for n := first; n < first+tried && n <= 65535; n++ {
		var listener net.Listener
		listener, err = config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(n)))
		if err == nil {
			return listener, nil
		}
	}
	return nil, err
}

func port(listener net.Listener) int { return listener.Addr().(*net.TCPAddr).Port }

func localURL(listener net.Listener) string {
	return "http://localhost:" + strconv.Itoa(port(listener))
}
