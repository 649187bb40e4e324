package goldenpaths_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/runner"
	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
	"github.com/towpath-dev/towpath/internal/controlplane"
	"github.com/towpath-dev/towpath/internal/controlplane/controlplanetest"
)

// namespace is where the provider config puts what the golden paths make.
const namespace = "shop"

// TestGoldenPathsAgainstARealCluster previews every example, then applies all
// golden paths together and looks at what a change of their inputs comes to.
func TestGoldenPathsAgainstARealCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs Pulumi against a real control plane")
	}
	versions, err := goldenpaths.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	bench := startBench(t, versions)
	for _, version := range versions {
		for _, example := range version.Examples {
			t.Run(version.GoldenPath.Name+" "+example.Name, func(t *testing.T) {
				project := bench.project(t, map[string]instance{example.Name: {version.Version.Spec.Token, example.Inputs}})
				steps, _ := bench.run(t, "example-"+version.GoldenPath.Name+"-"+example.Name, v1alpha1.Preview, project, nil)
				got := map[string]string{}
				for _, step := range steps {
					got[object(step)] = strings.ToLower(string(step.Kind))
				}
				if diff := cmp.Diff(example.Plan, got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
	t.Run("together, applied and changed", func(t *testing.T) { testChanges(t, bench) })
}

// before and after differ in every input that can change in place.
var before = map[string]map[string]any{
	"db": {"password": "${password}", "storage": "1Gi", "version": "17.6", "cpu": "100m", "memory": "256Mi", "database": "orders"},
	"web": {
		"image": "example.com/web:1", "secretName": "${db.secretName}", "host": "a.example.com", "replicas": 1, "maxReplicas": 2,
		"env": map[string]any{"DB_PORT": "${db.port}", "LOG_LEVEL": "info"},
	},
	"fixed": {"image": "example.com/fixed:1", "env": map[string]any{"WEB": "${web.url}"}},
	"team":  {"group": "team-shop", "ingressNamespace": "ingress"},
}

var after = map[string]map[string]any{
	"db": {"password": "${password}", "storage": "2Gi", "version": "16.10", "cpu": "200m", "memory": "512Mi", "database": "other"},
	"web": {
		"image": "example.com/web:2", "secretName": "other-credentials", "host": "b.example.com", "replicas": 2, "maxReplicas": 3,
		"port": 9090, "cpu": "200m", "memory": "256Mi", "healthPath": "/healthz",
		"env": map[string]any{"DB_PORT": "${db.port}", "LOG_LEVEL": "debug"},
	},
	"fixed": {"image": "example.com/fixed:1", "replicas": 3, "env": map[string]any{"WEB": "${web.url}"}},
	"team":  {"group": "team-cart", "ingressNamespace": "edge", "cpu": "8", "memory": "16Gi", "pods": 60},
}

// container is the path of the only container of a workload.
const container = "spec.template.spec.containers[0]."

func testChanges(t *testing.T, bench *bench) {
	tokens := map[string]string{}
	for _, version := range bench.versions {
		tokens[version.GoldenPath.Name] = version.Version.Spec.Token
	}
	program := func(inputs map[string]map[string]any) string {
		return bench.project(t, map[string]instance{
			"db": {tokens["postgres"], inputs["db"]}, "web": {tokens["web-service"], inputs["web"]},
			"fixed": {tokens["web-service"], inputs["fixed"]}, "team": {tokens["tenant-namespace"], inputs["team"]},
		})
	}
	_, preview := bench.run(t, "preview", v1alpha1.Preview, program(before), nil)
	approved := &v1alpha1.ApprovedPlan{
		Digest: preview.PlanDigest, EffectDigest: preview.EffectDigest, Inputs: preview.Inputs, Preview: "preview",
	}
	bench.run(t, "up", v1alpha1.Up, program(before), approved)
	bench.checkReady(t)

	steps, _ := bench.run(t, "unchanged", v1alpha1.Preview, program(before), nil)
	if len(steps) > 0 {
		t.Errorf("unchanged inputs give %d steps, as %+v", len(steps), steps[0])
	}

	steps, _ = bench.run(t, "changed", v1alpha1.Preview, program(after), nil)
	got := map[string][]string{}
	for _, step := range steps {
		for _, change := range step.Changes {
			got[string(step.Kind)+" "+object(step)] = append(got[string(step.Kind)+" "+object(step)], change.Path)
		}
	}
	want := map[string][]string{
		"Update Deployment web": {
			container + "env[1].value", container + "envFrom[0].secretRef.name", container + "image",
			container + "ports[0].containerPort", container + "readinessProbe.httpGet.path",
			container + "resources.limits.memory", container + "resources.requests.cpu",
		},
		"Update Deployment fixed":                 {"spec.replicas"},
		"Update HorizontalPodAutoscaler web":      {"spec.maxReplicas", "spec.minReplicas"},
		"Update Ingress web":                      {"spec.rules[0].host"},
		"Update Secret db-credentials":            {"data.PGDATABASE"},
		"Update PersistentVolumeClaim db-data":    {"spec.resources.requests.storage"},
		"Update StatefulSet db":                   {container + "image", container + "resources.limits.memory", container + "resources.requests.cpu"},
		"Update ResourceQuota quota":              {`spec.hard["limits.memory"]`, "spec.hard.pods", `spec.hard["requests.cpu"]`},
		"Update RoleBinding team-edit":            {"subjects[0].name"},
		"Update NetworkPolicy allow-from-ingress": {`spec.ingress[0].from[0].namespaceSelector.matchLabels["kubernetes.io/metadata.name"]`},
	}
	if diff := cmp.Diff(want, got, sorted); diff != "" {
		t.Errorf("one changed input is one changed property: %s", diff)
	}
}

var sorted = cmp.Transformer("sorted", func(list []string) map[string]int {
	count := map[string]int{}
	for _, item := range list {
		count[item]++
	}
	return count
})

// object names what a step is about as people do, as in "Deployment web".
func object(step v1alpha1.PlanStep) string {
	kind := step.Type[strings.LastIndexByte(step.Type, ':')+1:]
	return kind + " " + step.Object[strings.LastIndexByte(step.Object, '/')+1:]
}

// bench runs programs as the product does: with the runner, in a real cluster.
type bench struct {
	versions   []goldenpaths.Version
	client     kubernetes.Interface
	dir        string
	runner     string
	toolchain  string
	kubeconfig []byte
	runs       atomic.Int64
}

// instance is one use of a golden path in a program.
type instance struct {
	token  string
	inputs any
}

func startBench(t *testing.T, versions []goldenpaths.Version) *bench {
	t.Helper()
	bin, err := controlplanetest.Bin()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{versions: versions, dir: t.TempDir(), toolchain: bin}
	b.runner = filepath.Join(b.dir, "towpath-runner")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", b.runner, "../cmd/towpath-runner")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the runner: %v\n%s", err, out)
	}
	cluster := controlplanetest.Start(t, controlplane.All()...)
	if b.kubeconfig, err = cluster.Kubeconfig("admin", "system:masters"); err != nil {
		t.Fatal(err)
	}
	config, err := cluster.AdminConfig()
	if err != nil {
		t.Fatal(err)
	}
	if b.client, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	_, err = b.client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(b.dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	return b
}

// project is the text of a Pulumi project; JSON is YAML.
func (b *bench) project(t *testing.T, instances map[string]instance) string {
	t.Helper()
	packages, resources := map[string]string{}, map[string]any{}
	for _, version := range b.versions {
		packages[version.GoldenPath.Name] = version.GoldenPath.Name + "@" + version.Version.Spec.Version
	}
	for name, i := range instances {
		resources[name] = map[string]any{"type": i.token, "properties": i.inputs}
	}
	text, err := json.Marshal(map[string]any{
		"name": "shop", "runtime": "yaml", "packages": packages, "resources": resources,
		"configuration": map[string]any{"password": map[string]any{"type": "String"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// run runs one operation and fails the test unless it succeeds.
func (b *bench) run(
	t *testing.T, name string, operation v1alpha1.Operation, project string, approved *v1alpha1.ApprovedPlan,
) ([]v1alpha1.PlanStep, runner.Result) {
	t.Helper()
	job := runner.Job{
		RunUID: fmt.Sprintf("golden-paths-%d-%d", os.Getpid(), b.runs.Add(1)), Namespace: namespace, Name: name,
		Operation: operation, Project: project, ProjectName: "shop", Stack: "organization/shop/" + b.stack(name),
		Backend: "file://" + filepath.Join(b.dir, "state"), SecretsProvider: "passphrase",
		Env: map[string]string{"PULUMI_CONFIG_PASSPHRASE": "correct horse"},
		Config: map[string]json.RawMessage{
			"kubernetes:namespace": json.RawMessage(`"` + namespace + `"`),
			// A changed password is an update; by default the provider replaces Secrets.
			"kubernetes:enableSecretMutable": json.RawMessage(`"true"`),
			// An input that is not given must not be taken from here.
			"replicas": json.RawMessage(`"9"`),
		},
		Secrets: map[string]string{"password": "a long password"}, Kubeconfig: string(b.kubeconfig), Approved: approved,
		DigestKey: []byte("0123456789abcdef0123456789abcdef"), Dir: filepath.Join(b.dir, "runs", name),
		PulumiHome: filepath.Join(filepath.Dir(b.toolchain), "pulumi-home"), Toolchain: b.toolchain,
	}
	for _, version := range b.versions {
		spec := version.Version.Spec
		job.GoldenPaths = append(job.GoldenPaths, runner.HostedGoldenPath{
			Name: spec.GoldenPath, Version: spec.Version, Digest: spec.Digest, Token: spec.Token, Component: spec.Component,
		})
	}
	input, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), b.runner)
	command.Stdin = bytes.NewReader(input)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return readStream(t, filepath.Join(job.Dir, runner.StreamFile))
}

// stack gives each example a stack of its own; the rest share one.
func (b *bench) stack(run string) string {
	if strings.HasPrefix(run, "example-") {
		return run
	}
	return "together"
}

func readStream(t *testing.T, file string) ([]v1alpha1.PlanStep, runner.Result) {
	t.Helper()
	stream, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var steps []v1alpha1.PlanStep
	var said []string
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var line runner.Line
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		switch {
		case line.Step != nil:
			steps = append(steps, *line.Step)
		case line.Log != nil:
			said = append(said, line.Log.Severity+": "+line.Log.Text)
		case line.Result != nil:
			if line.Result.Phase != v1alpha1.RunSucceeded {
				t.Fatalf("%s: %s\n%s", line.Result.Phase, line.Result.Message, strings.Join(said, "\n"))
			}
			return steps, *line.Result
		}
	}
	t.Fatalf("the run has no result: %v\n%s", lines.Err(), strings.Join(said, "\n"))
	return nil, runner.Result{}
}

// checkReady looks at what an apply has made.
func (b *bench) checkReady(t *testing.T) {
	t.Helper()
	got := map[string]any{}
	for _, name := range []string{"web", "fixed"} {
		deployment, err := b.client.AppsV1().Deployments(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got[name] = deployment.Status.ReadyReplicas
	}
	database, err := b.client.AppsV1().StatefulSets(namespace).Get(t.Context(), "db", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got["db"] = database.Status.ReadyReplicas
	claim, err := b.client.CoreV1().PersistentVolumeClaims(namespace).Get(t.Context(), "db-data", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got["db-data"] = claim.Status.Phase
	secret, err := b.client.CoreV1().Secrets(namespace).Get(t.Context(), "db-credentials", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got["password"] = string(secret.Data["PGPASSWORD"])
	want := map[string]any{
		"web": int32(1), "fixed": int32(2), "db": int32(1), "db-data": corev1.ClaimBound, "password": "a long password",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
