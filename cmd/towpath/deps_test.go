package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The portal links no Pulumi engine, SDK or provider: they are the runner's alone.
func TestThePortalLinksNoPulumi(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 100 {
		t.Fatalf("only %d packages; is this the program?", len(packages))
	}
	for _, name := range packages {
		if strings.HasPrefix(name, "github.com/pulumi/") {
			t.Errorf("it links %s", name)
		}
	}
}
