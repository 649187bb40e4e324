package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/runner"
)

// chain is a Program whose apply takes a while: each ConfigMap waits for the one
// before it.
func chain(service string, length int) map[string]any {
	resources := map[string]any{}
	for i := range length {
		link := configMap(fmt.Sprintf("%s-%d", service, i), "blue")
		if i > 0 {
			link["options"] = map[string]any{"dependsOn": []any{fmt.Sprintf("${link%d}", i-1)}}
		}
		resources[fmt.Sprintf("link%d", i)] = link
	}
	return map[string]any{"resources": resources}
}

const links = 20

// However the portal ends in the middle of a run, what it was doing is finished
// after the next start, and nothing is left behind.
func TestKilledInTheMiddle(t *testing.T) {
	skipShort(t)
	t.Parallel()
	p := ownPortal(t)
	for name, kill := range map[string]func(t *testing.T){
		"alone": func(*testing.T) { p.Kill() },
		"with-all-its-runs": func(t *testing.T) {
			p.Kill()
			p.killRuns(t)
		},
	} {
		service := "cut-" + name
		done := t.Run("a preview, "+name, func(t *testing.T) {
			change := p.propose(t, "developer", changeRequest(service, chain(service, links), "dev", "test"))
			p.awaitRun(t, change, v1alpha1.Preview)
			kill(t)
			p.restart(t)
			p.awaitPhases(t, change, map[string]v1alpha1.StackPhase{"dev": v1alpha1.StackApplied, "test": v1alpha1.StackInReview})
			p.checkCutShort(t, change, v1alpha1.Preview)
			p.checkNothingLeft(t)
		})
		done = done && t.Run("an apply, "+name, func(t *testing.T) {
			change := p.newest(t, service)
			p.approve(t, "approver", change, "test")
			p.awaitObject(t, "shop-test", service+"-3")
			kill(t)
			p.restart(t)
			cr := p.awaitChange(t, change, "applied, or in review again", func(cr v1alpha1.ChangeRequest) bool {
				return cr.Status.Phase.Done() || in(cr, "test").Phase == v1alpha1.StackInReview
			})
			if !cr.Status.Phase.Done() {
				// What is left to do is not what was signed: somebody looks again.
				t.Logf("it waits for another review: %+v", in(cr, "test").Differences)
				p.approve(t, "approver", change, "test")
			}
			p.awaitEnd(t, change, v1alpha1.ChangeApplied)
			there := p.names(t, &corev1.ConfigMapList{}, "shop-test")
			for i := range links {
				if !slices.Contains(there, fmt.Sprintf("%s-%d", service, i)) {
					t.Errorf("link %d is not there", i)
				}
			}
			p.checkCutShort(t, change, v1alpha1.Up)
			p.checkNothingLeft(t)
		})
		if !done {
			return // the portal may be gone
		}
	}
	t.Run("stopped and started again", func(t *testing.T) { p.checkRestart(t) })
	t.Run("the cluster cannot be reached", func(t *testing.T) { p.checkUnreachable(t) })
}

// checkCutShort fails the test unless a run of the change says that it was cut
// short: then the kill came in the middle of it.
func (p *portal) checkCutShort(t *testing.T, change string, operation v1alpha1.Operation) {
	t.Helper()
	var runs v1alpha1.RunList
	if err := p.admin.List(t.Context(), &runs, client.InNamespace(team), client.MatchingLabels{v1alpha1.ChangeRequestLabel: change}); err != nil {
		t.Fatal(err)
	}
	var told []string
	cut := false
	for _, run := range runs.Items {
		if run.Spec.Operation == operation {
			told = append(told, fmt.Sprintf("%s %s: %s", run.Name, run.Status.Phase, run.Status.Message))
			cut = cut || run.Status.Phase != v1alpha1.RunSucceeded
		}
	}
	t.Log(strings.Join(told, "\n"))
	if !cut {
		t.Error("no run was cut short")
	}
}

// restart starts a portal that was killed or stopped.
func (p *portal) restart(t *testing.T) {
	t.Helper()
	began := time.Now()
	if err := p.StartAgain(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began).Round(100 * time.Millisecond)
	t.Logf("up again after %s", took)
	if took > time.Minute {
		t.Errorf("it took %s to start again", took)
	}
}

// awaitRun waits until a run of the operation is at work for a change, a provider
// among its processes.
func (p *portal) awaitRun(t *testing.T, change string, operation v1alpha1.Operation) v1alpha1.Run {
	t.Helper()
	var found v1alpha1.Run
	p.await(t, "a run at work", func(ctx context.Context) (bool, string, error) {
		var runs v1alpha1.RunList
		if err := p.admin.List(ctx, &runs, client.InNamespace(team), client.MatchingLabels{v1alpha1.ChangeRequestLabel: change}); err != nil {
			return false, "", err
		}
		for _, run := range runs.Items {
			if run.Spec.Operation == operation && run.Status.Phase == v1alpha1.RunRunning {
				found = run
			}
		}
		// The provider comes up once the engine is at work on the Program.
		var names []string
		for _, process := range p.runProcesses(t) {
			names = append(names, process.name)
		}
		return found.Name != "" && slices.Contains(names, "pulumi-resource"), fmt.Sprintf("run %q, processes %v", found.Name, names), nil
	})
	return found
}

func (p *portal) newest(t *testing.T, service string) string {
	t.Helper()
	said := p.towpath(t, "developer", "", "show", service).works(t).out
	return strings.Fields(said)[1] // Change <name> of service …
}

func (p *portal) awaitObject(t *testing.T, namespace, name string) {
	t.Helper()
	p.await(t, name, func(ctx context.Context) (bool, string, error) {
		err := p.admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &corev1.ConfigMap{})
		return err == nil, "", client.IgnoreNotFound(err)
	})
}

// checkRestart stops the portal in order while a change waits, and looks whether
// everything is there after the next start.
func (p *portal) checkRestart(t *testing.T) {
	change := p.propose(t, "developer", proposal("kept", "blue", "dev", "test"))
	p.awaitPhases(t, change, map[string]v1alpha1.StackPhase{"dev": v1alpha1.StackApplied, "test": v1alpha1.StackInReview})
	before := p.show(t, change)
	if err := p.Stop(); err != nil {
		t.Fatalf("stop: %v", err)
	}
	text, err := os.ReadFile(p.Output)
	if err != nil || !strings.HasSuffix(string(text), fmt.Sprintf("Stopped. Everything is kept in %s.\n", p.Dir)) {
		t.Errorf("it ended with (%v):\n%s", err, text)
	}
	p.restart(t)
	if diff := cmp.Diff(before, p.show(t, change)); diff != "" {
		t.Error("the change after a restart:\n" + diff)
	}
	p.approve(t, "approver", change, "test")
	p.awaitEnd(t, change, v1alpha1.ChangeApplied)
	p.checkNothingLeft(t)
}

// checkUnreachable stops the API server for the time of a preview, which must not
// take silence for an answer.
func (p *portal) checkUnreachable(t *testing.T) {
	server, err := p.Child("kube-apiserver")
	if err != nil {
		t.Fatal(err)
	}
	resume := func() { _ = syscall.Kill(server, syscall.SIGCONT) }
	defer resume()
	change := p.propose(t, "developer", proposal("unreachable", "blue", "dev"))
	runs := filepath.Join(p.Dir, "controller", "runs")
	var stream string
	p.await(t, "a runner", func(context.Context) (bool, string, error) {
		started, err := filepath.Glob(filepath.Join(runs, "*", "started"))
		if len(started) > 0 {
			stream = filepath.Join(filepath.Dir(started[0]), runner.StreamFile)
		}
		return len(started) > 0, "", err
	})
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.await(t, "a result of the preview", func(context.Context) (bool, string, error) {
		text, err := os.ReadFile(stream)
		if os.IsNotExist(err) {
			err = nil
		}
		return strings.Contains(string(text), `"result":`), string(text), err
	})
	resume()
	cr := p.awaitChange(t, change, "told of it", func(cr v1alpha1.ChangeRequest) bool { return in(cr, "dev").Message != "" })
	if message := in(cr, "dev").Message; !strings.Contains(message, "cannot be reached: it does not answer; nothing was previewed.") {
		t.Errorf("it says: %s", message)
	}
	p.awaitEnd(t, change, v1alpha1.ChangeApplied)
}
