package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/towpath-dev/towpath/controller"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/internal/dev"
	"github.com/towpath-dev/towpath/internal/fault"
)

// caller is who uses the command line, and where. Everything is asked of the
// Kubernetes API in the caller's own name.
type caller struct {
	kubeconfig, role, dir, namespace string
}

func (c *caller) flags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "kubeconfig file to use")
	flags.StringVar(&c.role, "role", "", "be one of the people of towpath dev: developer, developer2, platform, approver, approver2")
	flags.StringVar(&c.dir, "dir", dev.DefaultDir, "folder of towpath dev, for --role")
	flags.StringVarP(&c.namespace, "namespace", "n", "", "namespace of the team")
	command.MarkFlagsMutuallyExclusive("kubeconfig", "role")
}

// client connects to the caller's cluster and settles the namespace.
func (c *caller) client() (client.WithWatch, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	switch {
	case c.kubeconfig != "":
		rules.ExplicitPath = c.kubeconfig
	case c.role != "":
		if c.role != filepath.Base(c.role) {
			return nil, fault.New(fault.Invalid, nil, "%q is no role.", c.role)
		}
		rules.ExplicitPath = filepath.Join(c.dir, "kubeconfig", c.role+".kubeconfig")
		if _, err := os.Stat(rules.ExplicitPath); err != nil {
			return nil, fault.New(fault.NotFound, err, "There is nobody called %s in %s: start towpath dev, or name one of the people it lists.", c.role, c.dir)
		}
	}
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{})
	config, err := loaded.ClientConfig()
	if err != nil {
		return nil, fault.New(fault.Invalid, err, "No cluster to talk to: give --role for towpath dev, or --kubeconfig.")
	}
	if c.namespace == "" {
		if c.namespace, _, err = loaded.Namespace(); err != nil {
			return nil, fmt.Errorf("read the namespace of the kubeconfig: %w", err)
		}
	}
	scheme, err := controller.Scheme()
	if err != nil {
		return nil, err
	}
	k, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, unavailable(err)
	}
	return k, nil
}

func unavailable(err error) error {
	return fault.New(fault.Unavailable, err, "The cluster cannot be reached. Is it running?")
}

// explain turns an answer of the API server into a sentence for the caller.
func explain(err error, doing string) error {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err):
		return fault.New(fault.Forbidden, err, "You may not %s: %s", doing, reason(err))
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return fault.New(fault.Invalid, err, "The cluster refused to %s: %s", doing, reason(err))
	case apierrors.IsRequestEntityTooLargeError(err):
		return fault.New(fault.Invalid, err, "The cluster refused to %s: it is too large.", doing)
	case apierrors.IsNotFound(err), apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return fmt.Errorf("%s: %w", doing, err)
	case errors.As(err, &status):
		return fmt.Errorf("%s: %w", doing, err)
	}
	return unavailable(err)
}

// reason is the part of an API server's refusal that says why.
func reason(err error) string {
	text := err.Error()
	for _, mark := range []string{"denied request: ", "is forbidden: ", "is invalid: "} {
		if _, after, found := strings.Cut(text, mark); found {
			return after
		}
	}
	return text
}

// findChange returns a change by its own name, or the newest of a service.
func (c *caller) findChange(ctx context.Context, k client.Client, name string) (*v1alpha1.ChangeRequest, error) {
	var list v1alpha1.ChangeRequestList
	if err := k.List(ctx, &list, client.InNamespace(c.namespace)); err != nil {
		return nil, explain(err, "read the changes in "+c.namespace)
	}
	var found *v1alpha1.ChangeRequest
	for i := range list.Items {
		cr := &list.Items[i]
		if cr.Name == name {
			return cr, nil
		}
		if cr.Spec.Service == name && (found == nil || found.CreationTimestamp.Before(&cr.CreationTimestamp)) {
			found = cr
		}
	}
	if found == nil {
		return nil, fault.New(fault.NotFound, nil, "There is no change or service %q in namespace %s.", name, c.namespace)
	}
	return found, nil
}
