package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whoever gets hold of the identity that previews run under can look and dry-run
// and change nothing.
func TestThePreviewIdentityChangesNothing(t *testing.T) {
	p := sharedPortal(t)
	t.Parallel()
	admin, err := p.AdminKubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	const (
		there = `{apiVersion: v1, kind: ConfigMap, metadata: {name: looked-at}, data: {colour: blue}}`
		fresh = `{apiVersion: v1, kind: ConfigMap, metadata: {name: brand-new}}`
		work  = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: looked-at}, spec: {replicas: 1, selector: {matchLabels: {app: looked-at}},
			template: {metadata: {labels: {app: looked-at}}, spec: {containers: [{name: web, image: nginx}]}}}}`
	)
	for _, object := range []string{there, work} {
		kubectl(t, admin, object, "create", "-n", "shop-dev", "-f", "-").works(t)
	}
	kubectl(t, admin, "", "rollout", "status", "-n", "shop-dev", "deployment/looked-at", "--timeout=2m").works(t)
	token := strings.TrimSpace(kubectl(t, admin, "", "create", "token", "preview-dev", "-n", team).works(t).out)
	before := p.everything(t, admin)

	for how, flags := range map[string][]string{
		"with its token": {"--token=" + token},
		"impersonated":   {"--as=system:serviceaccount:shop:preview-dev", "--as-group=system:serviceaccounts", "--as-group=system:serviceaccounts:shop"},
	} {
		for what, try := range map[string]struct {
			stdin string
			args  []string
			dry   bool // whether a dry run of it is possible
		}{
			"create":        {fresh, []string{"create", "-f", "-"}, true},
			"apply":         {strings.Replace(there, "blue", "red", 1), []string{"apply", "--server-side", "--force-conflicts", "-f", "-"}, true},
			"replace":       {strings.Replace(there, "blue", "red", 1), []string{"replace", "-f", "-"}, true},
			"patch":         {"", []string{"patch", "configmap", "looked-at", "-p", `{"data":{"colour":"red"}}`}, true},
			"label":         {"", []string{"label", "configmap", "looked-at", "a=b"}, true},
			"annotate":      {"", []string{"annotate", "configmap", "looked-at", "a=b"}, true},
			"scale":         {"", []string{"scale", "deployment", "looked-at", "--replicas=5"}, false},
			"delete":        {"", []string{"delete", "configmap", "looked-at", "--wait=false"}, true},
			"delete all":    {"", []string{"delete", "configmaps", "--all", "--wait=false"}, true},
			"create token":  {"", []string{"create", "token", "default"}, false},
			"exec":          {"", []string{"exec", "deployment/looked-at", "--", "ls"}, false},
			"propose":       {namedChange("from-a-preview", "from-a-preview", settings("from-a-preview", "red"), "dev"), []string{"create", "-n", team, "-f", "-"}, false},
			"grant a right": {"", []string{"create", "rolebinding", "grab", "--clusterrole=admin", "--user=developer"}, false},
		} {
			t.Run(what+" "+how, func(t *testing.T) {
				// The administrator's kubeconfig has a client certificate, which would win
				// over a token.
				kubeconfig := admin
				if how == "with its token" {
					kubeconfig = p.anonymousKubeconfig(t)
				}
				args := append(append([]string{"-n", "shop-dev"}, flags...), try.args...)
				real := kubectl(t, kubeconfig, try.stdin, args...)
				if real.code == 0 || !strings.Contains(real.err, "A preview may only look and dry-run") && !strings.Contains(real.err, "forbidden") {
					t.Errorf("it ended with %d:\n%s%s", real.code, real.out, real.err)
				}
				if !try.dry {
					return
				}
				if dry := kubectl(t, kubeconfig, try.stdin, append(args, "--dry-run=server")...); dry.code != 0 {
					t.Errorf("a dry run of it ended with %d:\n%s%s", dry.code, dry.out, dry.err)
				}
			})
		}
	}
	if diff := cmp.Diff(before, p.everything(t, admin)); diff != "" {
		t.Error("something has changed:\n" + diff)
	}
}

// everything is what there is of what the test tries to change.
func (p *portal) everything(t *testing.T, admin string) string {
	t.Helper()
	return kubectl(t, admin, "", "get", "configmaps/looked-at", "deployments/looked-at", "-n", "shop-dev",
		"-o", `jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.metadata.labels} {.metadata.annotations} {.data} {.spec.replicas}{"\n"}{end}`).works(t).out +
		kubectl(t, admin, "", "get", "configmaps/brand-new", "-n", "shop-dev", "--ignore-not-found").works(t).out +
		kubectl(t, admin, "", "get", "rolebindings/grab", "-n", "shop-dev", "--ignore-not-found").works(t).out
}
