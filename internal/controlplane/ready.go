package controlplane

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	storagev1client "k8s.io/client-go/kubernetes/typed/storage/v1"
)

// startPatience bounds each wait of a start on a slow, busy machine.
const startPatience = 2 * time.Minute

// waitForAPI waits until the API server says that it is ready.
func (c *ControlPlane) waitForAPI(ctx context.Context) error {
	core, err := c.coreClient()
	if err != nil {
		return err
	}
	return c.waitFor(ctx, func(ctx context.Context) error {
		return core.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
}

// waitForOthers waits until the optional components do their work.
func (c *ControlPlane) waitForOthers(ctx context.Context) error {
	core, err := c.coreClient()
	if err != nil {
		return err
	}
	if c.has(Kwok) {
		if err := c.createNode(ctx, core); err != nil {
			return err
		}
	}
	if c.has(Kwok) && c.has(ControllerManager) {
		if err := c.createStorageClass(ctx); err != nil {
			return err
		}
	}
	if c.has(ControllerManager) {
		err := c.waitFor(ctx, func(ctx context.Context) error {
			_, err := core.ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
			return err
		})
		if err != nil {
			return fmt.Errorf("wait for the controllers: %w", err)
		}
	}
	if c.has(Kwok) {
		err := c.waitFor(ctx, func(ctx context.Context) error {
			node, err := core.Nodes().Get(ctx, nodeName, metav1.GetOptions{})
			if err != nil {
				return err
			}
			return c.usable(node)
		})
		if err != nil {
			return fmt.Errorf("wait for the simulated node: %w", err)
		}
	}
	return nil
}

// usable says why no pod would run on the node, or nil.
func (c *ControlPlane) usable(node *corev1.Node) error {
	// Only the controller manager takes away the taint of a new node.
	if c.has(ControllerManager) && len(node.Spec.Taints) > 0 {
		return fmt.Errorf("node %q is tainted %q", node.Name, node.Spec.Taints[0].Key)
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("node %q is not ready", node.Name)
}

// waitFor asks until the answer is nil, a component has ended, or time is over.
func (c *ControlPlane) waitFor(ctx context.Context, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	const pause = 50 * time.Millisecond
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-c.done:
			return c.err
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("gave up: %w; the logs are in %s", ctx.Err(), c.logs()), err)
		case <-tick.C:
		}
	}
}

func (c *ControlPlane) createNode(ctx context.Context, core corev1client.CoreV1Interface) error {
	_, err := core.Nodes().Create(ctx, simulatedNode(), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create node %q: %w", nodeName, err)
	}
	return nil
}

func (c *ControlPlane) createStorageClass(ctx context.Context) error {
	config, err := c.AdminConfig()
	if err != nil {
		return err
	}
	storage, err := storagev1client.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("create storage client: %w", err)
	}
	_, err = storage.StorageClasses().Create(ctx, simulatedStorageClass(), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create storage class %q: %w", storageClassName, err)
	}
	return nil
}

func (c *ControlPlane) coreClient() (corev1client.CoreV1Interface, error) {
	config, err := c.AdminConfig()
	if err != nil {
		return nil, err
	}
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create core client: %w", err)
	}
	return core, nil
}
