package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/runner"
)

const wired = `
name: orders
runtime: yaml
packages:
  web-service: web-service@1.0.0
  postgres: postgres@1.0.0
config:
  password: {type: string, secret: true}
resources:
  db:
    type: postgres:index:Postgres
    properties: {password: "${password}"}
  api:
    type: web-service:index:WebService
    properties: {image: "nginx:1", secretName: "${db.secretName}"}
  site:
    type: web-service:index:WebService
    properties: {image: "nginx:1", host: shop.example}
outputs:
  database: ${db.host}
  password: ${password}
`

func TestGoldenPathsFromPreviewToUpdate(t *testing.T) {
	b := newBench(t, wired)
	preview := succeed(t, b.job(t, v1alpha1.Preview))
	if got := preview.Summary.Text; got != "11 to create" {
		t.Errorf("the preview is %q", got)
	}
	deployments := client(t).AppsV1().Deployments("default")
	if _, err := deployments.Get(t.Context(), "api", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the preview the deployment is there: %v", err)
	}
	if again := succeed(t, b.job(t, v1alpha1.Preview)); again.PlanDigest != preview.PlanDigest {
		t.Errorf("a second preview has another plan digest: %s", cmp.Diff(preview.Inputs, again.Inputs))
	}

	up := succeed(t, b.job(t, v1alpha1.Up, approved(preview)))
	if len(up.Objects) != 11 {
		t.Errorf("the stack has %d objects, want 11", len(up.Objects))
	}
	outputs, err := json.Marshal(up.Outputs)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"database":"db","password":"[secret]"}`, string(outputs)); diff != "" {
		t.Error(diff)
	}
	api, err := deployments.Get(t.Context(), "api", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := api.Spec.Template.Spec.Containers[0].EnvFrom[0].SecretRef.Name; got != "db-credentials" {
		t.Errorf("the service reads secret %q", got)
	}

	if empty := succeed(t, b.job(t, v1alpha1.Preview)); !empty.Summary.Empty() {
		t.Errorf("an unchanged program gives %q", empty.Summary.Text)
	}
	b.project = strings.Replace(wired, "nginx:1", "nginx:2", 1)
	stream, result := do(t, b.job(t, v1alpha1.Preview))
	var steps []v1alpha1.PlanStep
	for _, line := range stream {
		if line.Step != nil {
			steps = append(steps, *line.Step)
		}
	}
	if len(steps) != 1 || steps[0].Kind != v1alpha1.StepUpdate || len(steps[0].Changes) != 1 {
		t.Errorf("a changed image gives %s: %v", result.Message, steps)
	}

	secret := b.job(t, v1alpha1.Up, approved(result), func(job *runner.Job) {
		job.Secrets = map[string]string{"password": "another-password"}
	})
	_, diverged := do(t, secret)
	if diverged.Phase != v1alpha1.RunDiverged || !names(diverged, "secrets") {
		t.Errorf("with another secret the apply is %s: %v", diverged.Phase, diverged.Differences)
	}
	if now, err := deployments.Get(t.Context(), "api", metav1.GetOptions{}); err != nil || now.Generation != api.Generation {
		t.Errorf("the diverged apply touched the deployment: %v", err)
	}
}

// names reports whether a result's differences name something.
func names(result runner.Result, what string) bool {
	for _, d := range result.Differences {
		if strings.Contains(d.What, what) {
			return true
		}
	}
	return false
}

func configMaps(names ...string) string {
	text := "name: orders\nruntime: yaml\nresources:\n"
	for _, name := range names {
		text += fmt.Sprintf("  %[1]s:\n    type: kubernetes:core/v1:ConfigMap\n    properties: {metadata: {name: %[1]s}, data: {k: v}}\n", name)
	}
	return text
}

func TestStackThatWasRemovedIsPreviewedAnew(t *testing.T) {
	b := newBench(t, configMaps("removed"))
	first := succeed(t, b.job(t, v1alpha1.Preview))
	state := filepath.Join(b.dir, "state")
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if again := succeed(t, b.job(t, v1alpha1.Preview)); again.PlanDigest != first.PlanDigest {
		t.Errorf("it gives another plan: %s", cmp.Diff(first.Inputs, again.Inputs))
	}
}

func TestStateMovedAfterApprovalTouchesNothing(t *testing.T) {
	b := newBench(t, configMaps("moved-a"))
	before := succeed(t, b.job(t, v1alpha1.Preview))
	succeed(t, b.job(t, v1alpha1.Up, approved(before)))

	b.project = configMaps("moved-a", "moved-b")
	plan := succeed(t, b.job(t, v1alpha1.Preview))
	b.project = configMaps("moved-a", "moved-c")
	succeed(t, b.job(t, v1alpha1.Up, approved(succeed(t, b.job(t, v1alpha1.Preview)))))

	b.project = configMaps("moved-a", "moved-b")
	_, result := do(t, b.job(t, v1alpha1.Up, approved(plan)))
	if result.Phase != v1alpha1.RunDiverged || !names(result, "state") || !names(result, "moved-c") {
		t.Errorf("the apply is %s: %v", result.Phase, result.Differences)
	}
	_, err := client(t).CoreV1().ConfigMaps("default").Get(t.Context(), "moved-b", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("the apply made moved-b: %v", err)
	}
}

func TestViolatedPlanSaysWhatChanged(t *testing.T) {
	// A dry run makes up the UID of an object that is not there yet.
	b := newBench(t, `
name: orders
runtime: yaml
resources:
  first:
    type: kubernetes:core/v1:ConfigMap
    properties: {metadata: {name: violated-first}}
  second:
    type: kubernetes:core/v1:ConfigMap
    properties: {metadata: {name: violated-second}, data: {uid: "${first.metadata.uid}"}}
`)
	_, result := do(t, b.job(t, v1alpha1.Up, approved(succeed(t, b.job(t, v1alpha1.Preview)))))
	if result.Phase != v1alpha1.RunFailed || !strings.Contains(result.Message, "left the approved plan") ||
		!names(result, "first") || names(result, "second") {
		t.Errorf("the apply is %s: %s %v", result.Phase, result.Message, result.Differences)
	}
}

func TestFailuresAreToldPlainly(t *testing.T) {
	b := newBench(t, configMaps("plain"))
	program := func(text string) func(*runner.Job) {
		return func(job *runner.Job) { job.Project = "name: orders\nruntime: yaml\n" + text }
	}
	for name, test := range map[string]struct {
		change    func(*runner.Job)
		want      string
		retryable bool
	}{
		"the cluster cannot be reached": {
			func(job *runner.Job) {
				job.Kubeconfig = regexp.MustCompile(`server: .*`).ReplaceAllString(job.Kubeconfig, "server: https://127.0.0.1:1")
			},
			"The cluster at 127.0.0.1:1 cannot be reached: it refuses connections; nothing was previewed.", true,
		},
		"the identity may not do it": {
			func(job *runner.Job) {
				kubeconfig, err := cluster.Kubeconfig("nobody", "system:monitoring")
				if err != nil {
					t.Error(err)
				}
				job.Kubeconfig = string(kubeconfig)
			},
			"refuses the identity", false,
		},
		"a key is given twice": {
			program("resources: {}\nresources: {}\n"), "resources is given twice, in lines 3 and 4", false,
		},
		"an input is of the wrong type": {
			program("resources:\n  web: {type: 'web-service:index:WebService', properties: {image: x, port: many}}\n"),
			"port: Cannot assign type 'string' to type 'integer'", false,
		},
		"an input is missing": {
			program("resources:\n  web: {type: 'web-service:index:WebService', properties: {}}\n"),
			"Missing required property 'image'", false,
		},
		"an output does not exist": {
			program("resources:\n  web: {type: 'web-service:index:WebService', properties: {image: x}}\noutputs: {x: '${web.nope}'}\n"),
			"does not exist on web", false,
		},
		"a golden path's component fails": {
			func(job *runner.Job) {
				job.Project = "name: orders\nruntime: yaml\nresources:\n  mine: {type: 'broken:index:Broken', properties: {}}\n"
				job.GoldenPaths = []runner.HostedGoldenPath{{
					Name: "broken", Version: "1.0.0", Token: "broken:index:Broken", Component: `
name: broken
runtime: yaml
components:
  Broken:
    resources:
      map:
        type: kubernetes:core/v1:ConfigMap
        properties: {data: {k: "${pulumi.nothing}"}}
`,
				}}
			},
			"golden path broken@1.0.0, instance mine", false,
		},
		"a secret in an API error": {
			func(job *runner.Job) {
				job.Project = "name: orders\nruntime: yaml\nresources:\n  m: {type: 'kubernetes:core/v1:ConfigMap', properties: {metadata: {name: {'fn::toBase64': '${password}'}}}}\n"
			},
			"[secret]", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, result := do(t, b.job(t, v1alpha1.Preview, test.change))
			if result.Phase != v1alpha1.RunFailed || result.Retryable != test.retryable || !strings.Contains(result.Message, test.want) {
				t.Errorf("the preview is %s (retryable: %v): %s\nwant it to say %q", result.Phase, result.Retryable, result.Message, test.want)
			}
		})
	}
}

func TestLocks(t *testing.T) {
	b := newBench(t, configMaps("locked"))
	plan := succeed(t, b.job(t, v1alpha1.Preview))
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	lock := func(host string, pid int) {
		dir := filepath.Join(b.dir, "state", ".pulumi", "locks", "organization", "orders", b.stack)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"pid":%d,"username":"bob","hostname":%q,"timestamp":"2026-11-30T20:14:44Z"}`, pid, host)
		if err := os.WriteFile(filepath.Join(dir, "lock.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lock("elsewhere", 1)
	_, result := do(t, b.job(t, v1alpha1.Up, approved(plan)))
	if result.Phase != v1alpha1.RunFailed || !result.Retryable || !strings.Contains(result.Message, "locked by bob on elsewhere") {
		t.Errorf("under somebody else's lock the apply is %s: %s", result.Phase, result.Message)
	}
	// The test is no Pulumi engine: its number was another's when the lock was made.
	lock(host, os.Getpid())
	succeed(t, b.job(t, v1alpha1.Up, approved(plan)))
}

func claim(name string) string {
	return fmt.Sprintf(`
name: orders
runtime: yaml
resources:
  first:
    type: kubernetes:core/v1:ConfigMap
    properties: {metadata: {name: %[1]s-first}}
  claim:
    type: kubernetes:core/v1:PersistentVolumeClaim
    options: {dependsOn: ["${first}"]}
    properties:
      metadata: {name: %[1]s}
      spec: {storageClassName: by-hand, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
  last:
    type: kubernetes:core/v1:ConfigMap
    options: {dependsOn: ["${claim}"]}
    properties: {metadata: {name: %[1]s-last}}
`, name)
}

// waiting starts an apply that waits for a claim to be bound.
func waiting(t *testing.T, b *bench, name string) (stop func(unix.Signal), job runner.Job, plan runner.Result) {
	t.Helper()
	b.project = claim(name)
	plan = succeed(t, b.job(t, v1alpha1.Preview))
	job = b.job(t, v1alpha1.Up, approved(plan))
	cmd := start(t, job)
	eventually(t, "the claim is there", func() bool {
		_, err := client(t).CoreV1().PersistentVolumeClaims("default").Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && said(job, "Created ConfigMap first")
	})
	return func(signal unix.Signal) {
		t.Helper()
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // a killed runner has no status
	}, job, plan
}

func TestInterruptedApplyEndsInOrder(t *testing.T) {
	b := newBench(t, "")
	stop, job, _ := waiting(t, b, "interrupted")
	stop(unix.SIGTERM)
	_, result := lines(t, job)
	if result.Phase != v1alpha1.RunInterrupted || result.NeedsRepair || !names(result, "first") || names(result, "last") {
		t.Errorf("the apply is %s: %s %v", result.Phase, result.Message, result.Differences)
	}
	if left := processesOf(job.RunUID); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if locks := b.locks(t); len(locks) > 0 {
		t.Errorf("locks are left: %v", locks)
	}
}

func TestKilledRunnerIsContinued(t *testing.T) {
	b := newBench(t, "")
	stop, job, plan := waiting(t, b, "killed")
	stop(unix.SIGKILL)
	eventually(t, "the engine ends by itself", func() bool { return len(processesOf(job.RunUID)) == 0 })
	b.continues(t, "killed", plan)
}

func TestKilledEngineAndRunnerAreContinued(t *testing.T) {
	b := newBench(t, "")
	stop, job, plan := waiting(t, b, "swept")
	for _, process := range processesOf(job.RunUID) {
		var pid int
		if _, err := fmt.Sscanf(process, "pulumi %d", &pid); err == nil {
			if err := unix.Kill(pid, unix.SIGSTOP); err != nil { // it cannot end in order
				t.Fatal(err)
			}
			defer unix.Kill(pid, unix.SIGKILL) //nolint:errcheck // it is gone if all is well
		}
	}
	stop(unix.SIGKILL)
	b.continues(t, "swept", plan)
	if left := processesOf(job.RunUID); len(left) > 0 {
		t.Errorf("processes of the killed run are left: %v", left)
	}
}

// continues applies an approved plan again whose first apply was killed.
func (b *bench) continues(t *testing.T, name string, plan runner.Result) {
	t.Helper()
	bind(t, name)
	result := succeed(t, b.job(t, v1alpha1.Up, approved(plan)))
	if len(result.Objects) != 3 {
		t.Errorf("the stack has %v", result.Objects)
	}
	if locks := b.locks(t); len(locks) > 0 {
		t.Errorf("locks are left: %v", locks)
	}
	after := succeed(t, b.job(t, v1alpha1.Preview))
	if !after.Summary.Empty() || after.NeedsRepair {
		t.Errorf("afterwards a preview gives %q, needs repair: %v", after.Summary.Text, after.NeedsRepair)
	}
}

func (b *bench) locks(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(b.dir, "state", ".pulumi", "locks", "organization", "orders", b.stack, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
