package dev

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/towpath-dev/towpath/internal/controlplane"
)

// person is somebody to sign in as. The groups carry the rights.
type person struct {
	name, group, does string
}

// The groups of people.
const (
	groupDeveloper = "developer"
	groupPlatform  = "platform"
	groupApprover  = "approver"
)

// people come in pairs where one person must not be enough: nobody approves a
// change of their own.
func people() []person {
	return []person{
		{"developer", groupDeveloper, "proposes changes for the team " + team},
		{"developer2", groupDeveloper, "proposes changes for the team " + team},
		{"platform", groupPlatform, "owns golden paths and environments, and sees the team " + team},
		{"approver", groupApprover, "approves changes of the team " + team},
		{"approver2", groupApprover, "approves changes of the team " + team},
	}
}

// writeKubeconfigs writes a kubeconfig for each person, set to the team's
// namespace. It does so at each start, because the address may have changed.
func writeKubeconfigs(plane *controlplane.ControlPlane, dir string) error {
	for _, p := range people() {
		content, err := plane.Kubeconfig(p.name, p.group)
		if err != nil {
			return err
		}
		config, err := clientcmd.Load(content)
		if err != nil {
			return fmt.Errorf("read the kubeconfig of %q: %w", p.name, err)
		}
		for _, context := range config.Contexts {
			context.Namespace = team
		}
		if content, err = clientcmd.Write(*config); err != nil {
			return fmt.Errorf("encode the kubeconfig of %q: %w", p.name, err)
		}
		if err := writeFile(filepath.Join(dir, p.name+".kubeconfig"), content); err != nil {
			return fmt.Errorf("write the kubeconfig of %q: %w", p.name, err)
		}
	}
	return nil
}

// writeFile writes a private file whole or not at all.
func writeFile(path string, content []byte) error {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
