package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/runner"
	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
	"github.com/towpath-dev/towpath/internal/controlplane"
)

const (
	namespace  = "bench"
	passphrase = "bench"
)

// lab is a cluster, the toolchain and a folder to work in.
type lab struct {
	dir, bin, home, runner string
	plane                  *controlplane.ControlPlane
	kubeconfig             []byte
	paths                  []runner.HostedGoldenPath
	components             map[string]*goldenpaths.Component
	runs                   int
}

func openLab(ctx context.Context, out io.Writer) (_ *lab, err error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "towpath-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{
		dir: dir, bin: filepath.Join(root, ".toolchain", "bin"), home: filepath.Join(root, ".toolchain", "pulumi-home"),
		runner: filepath.Join(root, "bin", "towpath-runner"), components: map[string]*goldenpaths.Component{},
	}
	defer func() {
		if err != nil {
			l.close(ctx)
		}
	}()
	versions, err := goldenpaths.Builtin()
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		spec := v.Version.Spec
		l.paths = append(l.paths, runner.HostedGoldenPath{Name: spec.GoldenPath, Version: spec.Version, Digest: spec.Digest, Token: spec.Token, Component: spec.Component})
		if l.components[spec.GoldenPath], err = goldenpaths.ParseComponent(spec.Component); err != nil {
			return nil, err
		}
	}
	l.plane, err = controlplane.Start(ctx, controlplane.Config{
		Bin: l.bin, Dir: filepath.Join(dir, "controlplane"), Disposable: true,
		Components: []controlplane.Component{controlplane.ControllerManager},
		Progress:   func(sentence string) { _, _ = fmt.Fprintln(out, sentence) },
	})
	if err != nil {
		return nil, err
	}
	if l.kubeconfig, err = l.plane.Kubeconfig("bench", "system:masters"); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "kubeconfig"), l.kubeconfig, 0o600); err != nil {
		return nil, err
	}
	config, err := l.plane.AdminConfig()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	_, err = client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	return l, err
}

func (l *lab) close(ctx context.Context) {
	if l.plane != nil {
		_ = l.plane.Stop(context.WithoutCancel(ctx))
	}
	_ = os.RemoveAll(l.dir)
}

func (l *lab) comparisons() []comparison {
	two, twenty, plain := mixed(2), mixed(20), configMaps(500)
	return []comparison{
		{"2 instances, over a flat program", 1.6, rounds, l.product("two", two.program()), l.bare("two-flat", two.flat(l.components))},
		{"20 instances, over a flat program", 1.4, rounds, l.product("twenty", twenty.program()), l.bare("twenty-flat", twenty.flat(l.components))},
		{"2 instances, over stock plugins", 0.3, 2, l.product("two", two.program()), l.stock("two-stock", two)},
		{"500 ConfigMaps, over bare defaults", 0.5, 2, l.product("plain", plain), l.bare("plain-bare", plain)},
	}
}

// product previews a program as the product does: one runner process.
func (l *lab) product(project string, program map[string]any) func(context.Context) error {
	return func(ctx context.Context) error {
		text, err := json.Marshal(named(project, program))
		if err != nil {
			return err
		}
		l.runs++
		uid := "00000000-0000-4000-8000-" + fmt.Sprintf("%012d", l.runs)
		job := runner.Job{
			RunUID: uid, Namespace: namespace, Name: project, Operation: v1alpha1.Preview,
			Project: string(text), ProjectName: project, Stack: "organization/" + project + "/dev", Backend: l.backend(project),
			Env:         map[string]string{"PULUMI_CONFIG_PASSPHRASE": passphrase},
			Config:      map[string]json.RawMessage{"kubernetes:namespace": json.RawMessage(strconv.Quote(namespace))},
			GoldenPaths: used(l.paths, program), Kubeconfig: string(l.kubeconfig), DigestKey: bytes.Repeat([]byte{1}, 32),
			Dir: filepath.Join(l.dir, "runs", uid), PulumiHome: l.home, Toolchain: l.bin,
		}
		if err := os.MkdirAll(job.Dir, 0o700); err != nil {
			return err
		}
		stdin, err := json.Marshal(job)
		if err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, l.runner)
		cmd.Stdin = bytes.NewReader(stdin)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + job.Dir, runner.RunMarker + "=" + uid}
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("run the runner: %w\n%s", err, output)
		}
		return succeeded(filepath.Join(job.Dir, runner.StreamFile))
	}
}

func succeeded(stream string) error {
	text, err := os.ReadFile(stream)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(text) {
		var l runner.Line
		if err := json.Unmarshal(line, &l); err != nil {
			return fmt.Errorf("read the stream: %w", err)
		}
		if l.Result == nil {
			continue
		}
		if l.Result.Phase != v1alpha1.RunSucceeded || l.Result.Summary == nil || l.Result.Summary.Create == 0 {
			return fmt.Errorf("the runner's preview: %s: %s", l.Result.Phase, l.Result.Message)
		}
		return nil
	}
	return errors.New("the runner gave no result")
}

func used(paths []runner.HostedGoldenPath, program map[string]any) []runner.HostedGoldenPath {
	packages, _ := program["packages"].(map[string]any)
	var hosted []runner.HostedGoldenPath
	for _, path := range paths {
		if _, ok := packages[path.Name]; ok {
			hosted = append(hosted, path)
		}
	}
	return hosted
}

// bare previews a program with the command line of Pulumi and its defaults.
func (l *lab) bare(project string, program map[string]any) func(context.Context) error {
	var ready bool
	dir := filepath.Join(l.dir, project)
	return func(ctx context.Context) error {
		if !ready {
			if err := l.prepare(ctx, dir, project, program); err != nil {
				return err
			}
			ready = true
		}
		return l.pulumi(ctx, dir, project, "preview", "--non-interactive", "--stack", "organization/"+project+"/dev")
	}
}

func (l *lab) prepare(ctx context.Context, dir, project string, program map[string]any) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	text, err := json.Marshal(named(project, program))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), text, 0o600); err != nil {
		return err
	}
	stack := "organization/" + project + "/dev"
	if err := l.pulumi(ctx, dir, project, "stack", "init", stack); err != nil {
		return err
	}
	return l.pulumi(ctx, dir, project, "config", "set", "--stack", stack, "kubernetes:namespace", namespace)
}

func (l *lab) pulumi(ctx context.Context, dir, project string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(l.bin, "pulumi"), args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + l.bin + ":" + os.Getenv("PATH"), "HOME=" + l.dir, "PULUMI_HOME=" + l.home,
		"KUBECONFIG=" + filepath.Join(l.dir, "kubeconfig"), "PULUMI_BACKEND_URL=" + l.backend(project),
		"PULUMI_CONFIG_PASSPHRASE=" + passphrase, "PULUMI_SKIP_UPDATE_CHECK=true",
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pulumi %s: %w\n%s", args[0], err, output)
	}
	return nil
}

// backend is a state of its own for each program: what one way leaves there is no
// burden for another.
func (l *lab) backend(project string) string {
	dir := filepath.Join(l.dir, "state-"+project)
	_ = os.MkdirAll(dir, 0o700) // pulumi says it if it is missing
	return "file://" + dir
}
