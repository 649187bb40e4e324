package dev_test

import (
	"context"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/towpath-dev/towpath/internal/dev"
	"github.com/towpath-dev/towpath/internal/fault"
)

func TestAPortThatIsTaken(t *testing.T) {
	var listen net.ListenConfig
	other, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	taken := other.Addr().(*net.TCPAddr).Port
	o := options(t, t.TempDir(), &strings.Builder{})
	o.Port = taken
	o.Controller = func(context.Context, dev.Controller) error { return nil }
	o.Portal = func(context.Context, dev.Portal) error { return nil }

	err = dev.Run(t.Context(), o)
	message, told := fault.Message(err)
	if !told || !strings.Contains(message, strconv.Itoa(taken)) || !strings.Contains(message, "--port") {
		t.Errorf("it says %q (%v); want the port and --port", message, err)
	}
}
