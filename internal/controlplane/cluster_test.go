package controlplane_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/towpath-dev/towpath/internal/controlplane"
	"github.com/towpath-dev/towpath/internal/controlplane/controlplanetest"
)

// ownerOfState makes this test program, started again, an instance that is there
// to be killed.
const ownerOfState = "CONTROLPLANE_TEST_STATE"

func TestMain(m *testing.M) {
	dir := os.Getenv(ownerOfState)
	if dir == "" {
		// The client library complains when it is given no place for its log.
		log.SetLogger(logr.Discard())
		os.Exit(m.Run())
	}
	c, err := start(context.Background(), dir)
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, "up")
	<-c.Done()
}

func TestWorkloadsBecomeReady(t *testing.T) {
	t.Parallel()
	c := controlplanetest.Start(t, controlplane.All()...)
	k := newClient(t, c)
	pods := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "example.com/a:1"}}},
	}
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
	meta := metav1.ObjectMeta{Name: "a", Namespace: "team"}

	create(t, k, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}})
	deployment := &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(3)), Selector: selector, Template: pods,
	}}
	statefulSet := &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{
		Replicas: new(int32(2)), Selector: selector, Template: pods, ServiceName: "a",
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
			ObjectMeta: metav1.ObjectMeta{Name: "data"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				},
			},
		}},
	}}
	jobPods := *pods.DeepCopy()
	jobPods.Labels, jobPods.Spec.RestartPolicy = nil, corev1.RestartPolicyNever
	job := &batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Template: jobPods}}
	create(t, k, deployment)
	create(t, k, statefulSet)
	create(t, k, job)

	eventually(t, k, deployment, func() bool { return deployment.Status.ReadyReplicas == 3 })
	eventually(t, k, statefulSet, func() bool { return statefulSet.Status.ReadyReplicas == 2 })
	eventually(t, k, job, func() bool { return job.Status.Succeeded == 1 })
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-a-1", Namespace: "team"}}
	eventually(t, k, claim, func() bool { return claim.Status.Phase == corev1.ClaimBound })

	// What is deleted goes, with all that hangs on it.
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: claim.Spec.VolumeName}}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}
	if err := k.Delete(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	for _, object := range []client.Object{namespace, volume} {
		await(t, func() error {
			err := k.Get(t.Context(), client.ObjectKeyFromObject(object), object)
			if apierrors.IsNotFound(err) {
				return nil
			}
			return errors.Join(fmt.Errorf("%T %s is still there", object, object.GetName()), err)
		})
	}
}

func TestUsersAreWhoTheirKubeconfigSays(t *testing.T) {
	t.Parallel()
	c := controlplanetest.Start(t)
	kubeconfig, err := c.Kubeconfig("ana", "developer", "team-shop")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	got := whoAmI(t, config)
	want := []string{"ana", "developer", "system:authenticated", "team-shop"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	stranger := &rest.Config{Host: c.URL(), TLSClientConfig: rest.TLSClientConfig{CAData: config.CAData}}
	k, err := client.New(stranger, client.Options{})
	if err == nil {
		err = k.List(t.Context(), &corev1.NamespaceList{})
	}
	if !apierrors.IsUnauthorized(err) {
		t.Errorf("a stranger gets %v", err)
	}
}

// A start on state that an earlier instance has left has all of it, whatever
// happened to that instance and to the files meanwhile.
func TestStateSurvives(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, dir string, owner *exec.Cmd){
		"kill -9": func(t *testing.T, _ string, owner *exec.Cmd) {
			kill(t, owner)
		},
		"a cut off key, port and process record": func(t *testing.T, dir string, owner *exec.Cmd) {
			kill(t, owner)
			for _, name := range []string{"pki/ca.key", "pki/apiserver.crt", "port", "processes.json"} {
				if err := os.Truncate(filepath.Join(dir, name), 3); err != nil {
					t.Fatal(err)
				}
			}
		},
		"missing certificates and logs": func(t *testing.T, dir string, owner *exec.Cmd) {
			kill(t, owner)
			for _, name := range []string{"pki", "logs", "port"} {
				if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
		},
	}
	for name, interfere := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			first, err := start(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			mark := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "mark", Namespace: "default"}}
			create(t, newClient(t, first), mark)
			if err := first.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}

			interfere(t, dir, startOwner(t, dir))
			second, err := start(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := newClient(t, second).Get(t.Context(), client.ObjectKeyFromObject(mark), mark); err != nil {
				t.Error(err)
			}
			if err := second.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNoComponentOutlivesItsParent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owner := startOwner(t, dir)
	components := recorded(t, dir)
	if len(components) < 2 {
		t.Fatalf("recorded are %v", components)
	}
	_, err := start(t.Context(), dir)
	if !errors.Is(err, controlplane.ErrInUse) {
		t.Errorf("a second instance gets %v", err)
	}
	kill(t, owner)
	for _, pid := range components {
		await(t, func() error {
			if running(pid) {
				return fmt.Errorf("process %d runs", pid)
			}
			return nil
		})
	}
}

func TestDoneSaysWhichComponentEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := start(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Err(); err != nil {
		t.Errorf("while all is well Err is %v", err)
	}
	if err := syscall.Kill(recorded(t, dir)[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.Done():
	case <-time.After(patience):
		t.Fatal("etcd was killed and nobody noticed")
	}
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "etcd ended with signal: killed") {
		t.Errorf("the reason is %v", err)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestStateThatCannotBeReadSaysWhatToDo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := start(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "etcd", "data", "member", "snap", "db"), 100); err != nil {
		t.Fatal(err)
	}
	_, err = start(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), "remove "+dir+" to begin anew") {
		t.Errorf("the error is %v", err)
	}
}

func TestMissingBinarySaysWhatToDo(t *testing.T) {
	t.Parallel()
	_, err := controlplane.Start(t.Context(), controlplane.Config{Bin: t.TempDir(), Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "make toolchain") {
		t.Errorf("the error is %v", err)
	}
}

const patience = 90 * time.Second

func start(ctx context.Context, dir string) (*controlplane.ControlPlane, error) {
	bin, err := controlplanetest.Bin()
	if err != nil {
		return nil, err
	}
	return controlplane.Start(ctx, controlplane.Config{Bin: bin, Dir: dir})
}

// startOwner starts a process that has a control plane on the folder.
func startOwner(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), ownerOfState+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "up\n" {
		t.Fatalf("it says %q (%v)", line, err)
	}
	return cmd
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		t.Fatal(err)
	}
}

// recorded returns the ids of the control plane's processes, etcd first.
func recorded(t *testing.T, dir string) []int {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "processes.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct{ PID int }
	if err := json.Unmarshal(content, &entries); err != nil {
		t.Fatal(err)
	}
	pids := make([]int, 0, len(entries))
	for _, entry := range entries {
		pids = append(pids, entry.PID)
	}
	return pids
}

// running tells if a process is there and more than a zombie.
func running(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func newClient(t *testing.T, c *controlplane.ControlPlane) client.Client {
	t.Helper()
	config, err := c.AdminConfig()
	if err != nil {
		t.Fatal(err)
	}
	k, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// whoAmI returns the user's name and sorted groups as the API server sees them.
func whoAmI(t *testing.T, config *rest.Config) []string {
	t.Helper()
	k, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	review := &authenticationv1.SelfSubjectReview{}
	if err := k.Create(t.Context(), review); err != nil {
		t.Fatal(err)
	}
	groups := review.Status.UserInfo.Groups
	slices.Sort(groups)
	return append([]string{review.Status.UserInfo.Username}, groups...)
}

func create(t *testing.T, k client.Client, object client.Object) {
	t.Helper()
	if err := k.Create(t.Context(), object); err != nil {
		t.Fatalf("create %T %s: %v", object, object.GetName(), err)
	}
}

// eventually reads the object until it is as wanted.
func eventually(t *testing.T, k client.Client, object client.Object, wanted func() bool) {
	t.Helper()
	await(t, func() error {
		if err := k.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		if !wanted() {
			return fmt.Errorf("%T %s is not as wanted", object, object.GetName())
		}
		return nil
	})
}

func await(t *testing.T, ask func() error) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal(err)
		}
	}
}
