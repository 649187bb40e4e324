package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/runner"
	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
	"github.com/towpath-dev/towpath/internal/controlplane"
	"github.com/towpath-dev/towpath/internal/controlplane/controlplanetest"
)

// asRunner makes the test program be the runner, so that nothing has to be built.
const asRunner = "TEST_AS_RUNNER"

var cluster *controlplane.ControlPlane

func TestMain(m *testing.M) {
	if os.Getenv(asRunner) != "" {
		main()
		os.Exit(0)
	}
	flag.Parse()
	if testing.Short() {
		os.Exit(m.Run())
	}
	os.Exit(controlplanetest.Main(m, func(c *controlplane.ControlPlane) { cluster = c }, controlplane.All()...))
}

// bench is what the runs of a test share: a backend, a PULUMI_HOME, a stack.
type bench struct {
	dir       string
	toolchain string
	stack     string
	project   string
	paths     []runner.HostedGoldenPath
	runs      int
}

func newBench(t *testing.T, project string) *bench {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the toolchain and a control plane")
	}
	toolchain, err := controlplanetest.Bin()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{dir: t.TempDir(), toolchain: toolchain, project: project, stack: "dev"}
	for _, dir := range []string{"state", "runs", "home"} {
		if err := os.Mkdir(filepath.Join(b.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	plugin := filepath.Join(b.dir, "home", "plugins", "resource-kubernetes-v4.25.0")
	if err := os.MkdirAll(plugin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(toolchain, "pulumi-resource-kubernetes"), filepath.Join(plugin, "pulumi-resource-kubernetes")); err != nil {
		t.Fatal(err)
	}
	versions, err := goldenpaths.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range versions {
		b.paths = append(b.paths, runner.HostedGoldenPath{
			Name: v.Version.Spec.GoldenPath, Version: v.Version.Spec.Version, Digest: v.Version.Spec.Digest,
			Token: v.Version.Spec.Token, Component: v.Version.Spec.Component,
		})
	}
	return b
}

// job gives a job of a new run; changes alter it.
func (b *bench) job(t *testing.T, op v1alpha1.Operation, changes ...func(*runner.Job)) runner.Job {
	t.Helper()
	kubeconfig, err := cluster.Kubeconfig("admin", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	b.runs++
	uid := fmt.Sprintf("run-%d-%s-%d", os.Getpid(), strings.ToLower(t.Name()), b.runs)
	uid = strings.NewReplacer("/", "-", " ", "-").Replace(uid)
	job := runner.Job{
		RunUID: uid, Namespace: "shop", Name: uid, Operation: op,
		Project: b.project, ProjectName: "orders", Stack: "organization/orders/" + b.stack,
		Backend:     "file://" + filepath.Join(b.dir, "state"),
		Env:         map[string]string{"PULUMI_CONFIG_PASSPHRASE": "open sesame"},
		Config:      map[string]json.RawMessage{"kubernetes:namespace": json.RawMessage(`"default"`)},
		Secrets:     map[string]string{"password": "hunter2-password"},
		GoldenPaths: b.paths, Kubeconfig: string(kubeconfig),
		Inputs: map[string]string{"program": "sha256:1"}, DigestKey: []byte("0123456789abcdef"),
		Dir: filepath.Join(b.dir, "runs", uid), PulumiHome: filepath.Join(b.dir, "home"), Toolchain: b.toolchain,
	}
	for _, change := range changes {
		change(&job)
	}
	return job
}

// approved makes an Up of a preview's plan.
func approved(preview runner.Result) func(*runner.Job) {
	return func(job *runner.Job) {
		job.Approved = &v1alpha1.ApprovedPlan{
			Digest: preview.PlanDigest, EffectDigest: preview.EffectDigest, Inputs: preview.Inputs, Preview: "preview",
		}
		job.ApprovedState = preview.State
	}
}

// start starts a runner.
func start(t *testing.T, job runner.Job) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asRunner+"=1")
	cmd.Stdin = bytes.NewReader(text)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// do does a job and gives its stream and result. It fails if a process of the
// run is left, or a secret is in the stream, or anything but it is in the folder.
func do(t *testing.T, job runner.Job) ([]runner.Line, runner.Result) {
	t.Helper()
	if err := start(t, job).Wait(); err != nil {
		t.Fatalf("the runner ended with %v", err)
	}
	if left := processesOf(job.RunUID); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	return lines(t, job)
}

func lines(t *testing.T, job runner.Job) ([]runner.Line, runner.Result) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(job.Dir, runner.StreamFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter2-password", "aHVudGVyMi1wYXNzd29yZ", "open sesame"} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("the stream has the secret %q", secret)
		}
	}
	var found []runner.Line
	decoder := json.NewDecoder(bytes.NewReader(text))
	for decoder.More() {
		var line runner.Line
		if err := decoder.Decode(&line); err != nil {
			t.Fatal(err)
		}
		found = append(found, line)
	}
	last := found[len(found)-1].Result
	if last == nil {
		t.Fatalf("the stream has no result: %s", text)
	}
	entries, err := os.ReadDir(job.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); name != runner.StreamFile && name != runner.LockFile {
			t.Errorf("%s is left in the run's folder", name)
		}
	}
	return found, *last
}

// succeed does a job and wants it to succeed.
func succeed(t *testing.T, job runner.Job) runner.Result {
	t.Helper()
	_, result := do(t, job)
	if result.Phase != v1alpha1.RunSucceeded {
		t.Fatalf("%s is %s: %s %v", job.Operation, result.Phase, result.Message, result.Differences)
	}
	return result
}

// processesOf lists the processes that carry a run's mark.
func processesOf(uid string) []string {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is well-formed
	var found []string
	for _, path := range paths {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environ, []byte(runner.RunMarker+"="+uid+"\x00")) {
			continue
		}
		name, err := os.ReadFile(filepath.Join(filepath.Dir(path), "comm"))
		if err == nil {
			found = append(found, strings.TrimSpace(string(name))+" "+filepath.Base(filepath.Dir(path)))
		}
	}
	return found
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("it does not come about that %s", what)
		case <-tick.C:
		}
	}
}

// said reports whether a run's stream has a text yet.
func said(job runner.Job, text string) bool {
	stream, err := os.ReadFile(filepath.Join(job.Dir, runner.StreamFile))
	return err == nil && bytes.Contains(stream, []byte(text))
}

func client(t *testing.T) kubernetes.Interface {
	t.Helper()
	config, err := cluster.AdminConfig()
	if err != nil {
		t.Fatal(err)
	}
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// bind gives a claim the volume that it waits for.
func bind(t *testing.T, claim string) {
	t.Helper()
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: claim},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName:       "by-hand",
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			ClaimRef:               &corev1.ObjectReference{Namespace: "default", Name: claim},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/simulated"}},
		},
	}
	if _, err := client(t).CoreV1().PersistentVolumes().Create(t.Context(), volume, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
