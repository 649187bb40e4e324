package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/e2e/portal"
)

const (
	// team and service are what the example of the README proposes.
	team    = "shop"
	service = "orders"

	patience = 5 * time.Minute
)

var proposedAs = regexp.MustCompile(`Proposed as (\S+)\.`)

// makeChange takes the example through dev and test, and leaves it waiting before
// prod. What came of it stays in the state folder.
func makeChange(ctx context.Context, bin, state string) (err error) {
	p, err := portal.Start(bin, state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	root, err := portal.Root()
	if err != nil {
		return err
	}
	said, err := p.Towpath(ctx, "developer", "propose", filepath.Join(root, "docs", "examples", "orders.yaml")).CombinedOutput()
	name := proposedAs.FindSubmatch(said)
	if err != nil || name == nil {
		return fmt.Errorf("propose the example: %w\n%s", err, said)
	}
	config, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig("developer"))
	if err != nil {
		return err
	}
	c, err := portal.Connect(config)
	if err != nil {
		return err
	}
	change := string(name[1])
	if err := awaitPhase(ctx, c, change, "test", v1alpha1.StackInReview); err != nil {
		return err
	}
	if said, err := p.Towpath(ctx, "approver", "approve", change, "test").CombinedOutput(); err != nil {
		return fmt.Errorf("approve the example: %w\n%s", err, said)
	}
	if err := awaitPhase(ctx, c, change, "test", v1alpha1.StackApplied); err != nil {
		return err
	}
	return awaitPhase(ctx, c, change, "prod", v1alpha1.StackInReview)
}

func awaitPhase(ctx context.Context, c client.Client, name, environment string, phase v1alpha1.StackPhase) error {
	var seen string
	err := wait.PollUntilContextTimeout(ctx, time.Second, patience, true, func(ctx context.Context) (bool, error) {
		var cr v1alpha1.ChangeRequest
		if err := c.Get(ctx, client.ObjectKey{Namespace: team, Name: name}, &cr); err != nil {
			return false, err
		}
		seen = cr.Status.Progress
		for _, sc := range cr.Status.Stacks {
			if sc.Environment == environment && sc.Phase == phase {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("wait for %s to be %s in %s; it is: %s: %w", name, phase, environment, seen, err)
	}
	return nil
}
