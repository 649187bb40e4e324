package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// etcd and the API server talk over a socket in etcd's folder, which nobody else
// may enter. etcd names a socket host:port and finds it from its working folder.
const (
	etcdClientURL = "unix://client:0"
	etcdPeerURL   = "unix://peer:0"
)

// serviceCIDR is where Services get their addresses; nothing listens there.
const serviceCIDR = "10.96.0.0/16"

// startAPI starts etcd and the API server and waits until it answers.
func (c *ControlPlane) startAPI(ctx context.Context) error {
	folder := filepath.Join(c.config.Dir, "etcd")
	complete := filepath.Join(folder, "complete")
	if err := putAsideUnless(complete, folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("create etcd folder: %w", err)
	}

	c.config.Progress("Starting etcd and the API server.")
	if err := c.launch(etcd, folder, c.etcdArgs()...); err != nil {
		return err
	}
	if err := c.launch(apiServer, folder, c.apiServerArgs()...); err != nil {
		return err
	}
	if err := c.waitForAPI(ctx); err != nil {
		if c.running[0].hasEnded() {
			return fmt.Errorf("the state in %s cannot be used; put back a copy of it, or remove %s to begin anew: %w", folder, c.config.Dir, err)
		}
		return fmt.Errorf("start the API server: %w", err)
	}
	if err := os.WriteFile(complete, nil, 0o600); err != nil {
		return fmt.Errorf("mark the state as complete: %w", err)
	}
	return nil
}

// putAsideUnless moves away a data folder that its first start did not finish:
// nothing was ever read from it, and etcd may refuse to go on with it.
func putAsideUnless(complete, folder string) error {
	if _, err := os.Stat(complete); err == nil {
		return nil
	}
	aside := folder + ".incomplete"
	if err := os.RemoveAll(aside); err != nil {
		return fmt.Errorf("remove old incomplete state: %w", err)
	}
	if err := os.Rename(folder, aside); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("put incomplete state aside: %w", err)
	}
	return nil
}

func (c *ControlPlane) etcdArgs() []string {
	args := []string{
		"--name=default",
		"--data-dir=data",
		"--listen-client-urls=" + etcdClientURL,
		"--advertise-client-urls=" + etcdClientURL,
		"--listen-peer-urls=" + etcdPeerURL,
		"--initial-advertise-peer-urls=" + etcdPeerURL,
		"--initial-cluster=default=" + etcdPeerURL,
	}
	if c.config.Disposable {
		args = append(args, "--unsafe-no-fsync")
	}
	return args
}

func (c *ControlPlane) apiServerArgs() []string {
	return []string{
		"--etcd-servers=" + etcdClientURL,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(c.port),
		"--cert-dir=" + c.pki.folder,
		"--tls-cert-file=" + c.pki.path("apiserver.crt"),
		"--tls-private-key-file=" + c.pki.path("apiserver.key"),
		"--client-ca-file=" + c.pki.path("ca.crt"),
		"--anonymous-auth=false",
		"--authorization-mode=Node,RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.pki.path("service-accounts.key"),
		"--service-account-signing-key-file=" + c.pki.path("service-accounts.key"),
		"--service-cluster-ip-range=" + serviceCIDR,
		// A loopback address may not be the endpoint of the Service "kubernetes".
		"--endpoint-reconciler-type=none",
		"--allow-privileged=true",
		"--profiling=false",
	}
}

// startOthers starts the optional components and waits until they work.
func (c *ControlPlane) startOthers(ctx context.Context) error {
	if len(c.config.Components) == 0 {
		return nil
	}
	c.config.Progress("Starting the controllers.")
	starts := []struct {
		component Component
		start     func() error
	}{
		{ControllerManager, c.startControllerManager},
		{Scheduler, c.startScheduler},
		{Kwok, c.startKwok},
	}
	for _, s := range starts {
		if !c.has(s.component) {
			continue
		}
		if err := s.start(); err != nil {
			return err
		}
	}
	return c.waitForOthers(ctx)
}

func (c *ControlPlane) startControllerManager() error {
	kubeconfig, err := c.componentKubeconfig(ControllerManager, "system:kube-controller-manager")
	if err != nil {
		return err
	}
	return c.launch(string(ControllerManager), c.config.Dir,
		"--kubeconfig="+kubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		// Each controller under its own account, as in any cluster: policies see
		// the names they would see there.
		"--use-service-account-credentials=true",
		"--service-account-private-key-file="+c.pki.path("service-accounts.key"),
		"--root-ca-file="+c.pki.path("ca.crt"),
		"--cluster-signing-cert-file="+c.pki.path("ca.crt"),
		"--cluster-signing-key-file="+c.pki.path("ca.key"),
		"--service-cluster-ip-range="+serviceCIDR,
		"--flex-volume-plugin-dir="+filepath.Join(c.config.Dir, "volume-plugins"),
		"--profiling=false",
	)
}

func (c *ControlPlane) startScheduler() error {
	kubeconfig, err := c.componentKubeconfig(Scheduler, "system:kube-scheduler")
	if err != nil {
		return err
	}
	return c.launch(string(Scheduler), c.config.Dir,
		"--kubeconfig="+kubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--profiling=false",
	)
}

func (c *ControlPlane) startKwok() error {
	// kwok plays the kubelet of every node and the provisioner of every volume.
	kubeconfig, err := c.componentKubeconfig(Kwok, "kwok", "system:masters")
	if err != nil {
		return err
	}
	stages, err := c.writeStages()
	if err != nil {
		return err
	}
	return c.launch(string(Kwok), c.config.Dir,
		"--kubeconfig="+kubeconfig,
		"--config="+stages,
		"--manage-all-nodes=true",
		"--node-lease-duration-seconds=40",
		"--cidr=10.244.0.0/16",
		"--node-ip=10.0.0.1",
		"--node-port=0",
	)
}
