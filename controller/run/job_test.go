package run

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/runner"
	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
)

func secretRef(name, key string) pulumiv1.ResourceRef {
	return pulumiv1.ResourceRef{Type: pulumiv1.RefSecret, Secret: &pulumiv1.SecretSelector{Name: name, Key: key}}
}

func goldenPath(name string, edits ...func(*v1alpha1.GoldenPathVersionSpec)) *v1alpha1.GoldenPathVersion {
	spec := v1alpha1.GoldenPathVersionSpec{
		GoldenPath: name, Version: "1.0.0", Stage: v1alpha1.StageDraft, Token: name + ":index:Thing", Component: "name: " + name,
	}
	spec.Digest = goldenpaths.Digest(spec.Token, spec.Component, spec.Inputs)
	for _, edit := range edits {
		edit(&spec)
	}
	return &v1alpha1.GoldenPathVersion{ObjectMeta: metav1.ObjectMeta{Name: name + "-1.0.0"}, Spec: spec}
}

func TestAJobHasAllThatTheRunnerNeeds(t *testing.T) {
	s := newScene(t)
	s.has(&corev1.Secret{ObjectMeta: s.meta("orders"), StringData: map[string]string{"token": "hunter2", "pass": "open sesame"}})
	s.has(&corev1.ConfigMap{ObjectMeta: s.meta("settings"), Data: map[string]string{"text": "plain", "list": "[1, 2]"}})
	version := goldenPath("hosted")
	if err := client.IgnoreAlreadyExists(s.admin.Create(t.Context(), version)); err != nil {
		t.Fatal(err)
	}
	pin := v1alpha1.PinnedGoldenPath{Name: "hosted", Version: "1.0.0", Digest: version.Spec.Digest}
	steps := []v1alpha1.PlanStep{{Kind: v1alpha1.StepCreate, URN: "urn:a", Type: "t", Name: "a"}}
	whole, err := json.Marshal(map[string]any{"steps": steps, "state": map[string]string{"urn:a": "sha256:a"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.blobs.WriteAll(t.Context(), "plan", whole, nil); err != nil {
		t.Fatal(err)
	}
	preview := s.wants("preview")
	preview.Status.Artefacts.Plan = "plan"
	if err := s.controller.Status().Update(t.Context(), preview); err != nil {
		t.Fatal(err)
	}
	approved := &v1alpha1.ApprovedPlan{Digest: "sha256:plan", EffectDigest: "sha256:effect", Preview: "preview"}
	run := s.wants("first", doing(v1alpha1.Up), func(run *v1alpha1.Run) {
		run.Spec.Approved, run.Spec.GoldenPaths = approved, []v1alpha1.PinnedGoldenPath{pin}
		run.Spec.Stack.SecretsProvider = "passphrase"
		run.Spec.Stack.Config = map[string]apiextensionsv1.JSON{"size": {Raw: []byte("3")}}
		run.Spec.Stack.ConfigRef = map[string]pulumiv1.ConfigMapRef{"text": {Name: "settings", Key: "text"}, "list": {Name: "settings", Key: "list", JSON: true}}
		run.Spec.Stack.Secrets = map[string]string{"old": "inline"}
		run.Spec.Stack.SecretsRef = map[string]pulumiv1.ResourceRef{"token": secretRef("orders", "token")}
		run.Spec.Stack.EnvRefs = map[string]pulumiv1.ResourceRef{
			"PULUMI_CONFIG_PASSPHRASE": secretRef("orders", "pass"),
			"AWS_REGION":               {Type: pulumiv1.RefLiteral, Literal: &pulumiv1.LiteralRef{Value: "eu"}},
		}
	})
	got, err := s.reconciler.Jobs.Build(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	want := runner.Job{
		RunUID: string(run.UID), Namespace: s.namespace, Name: "first", Operation: v1alpha1.Up,
		Project: "name: orders\noutputs:\n  a: b\nruntime: yaml\n", ProjectName: "orders",
		Stack: "organization/orders/dev", Backend: "file:///state", SecretsProvider: "passphrase",
		Env:         map[string]string{"PULUMI_CONFIG_PASSPHRASE": "open sesame", "AWS_REGION": "eu"},
		Config:      map[string]json.RawMessage{"size": json.RawMessage("3"), "text": json.RawMessage(`"plain"`), "list": json.RawMessage("[1, 2]")},
		Secrets:     map[string]string{"old": "inline", "token": "hunter2"},
		GoldenPaths: []runner.HostedGoldenPath{{Name: "hosted", Version: "1.0.0", Digest: pin.Digest, Token: "hosted:index:Thing", Component: "name: hosted"}},
		Inputs:      map[string]string{"program": "sha256:p"}, Approved: approved, ApprovedSteps: steps, ApprovedState: map[string]string{"urn:a": "sha256:a"},
		DigestKey: []byte("key"), PulumiHome: "/pulumi", Toolchain: "/toolchain",
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(runner.Job{}, "Kubeconfig")); diff != "" {
		t.Error(diff)
	}

	// The kubeconfig is of the run's own service account, and of nobody else.
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(got.Kubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	k, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	who, err := k.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("system:serviceaccount:"+s.namespace+":preview-dev", who.Status.UserInfo.Username); diff != "" {
		t.Error(diff)
	}
}

// Each of these ends the run before anything is started, with a sentence.
func TestWhyARunCannotStart(t *testing.T) {
	onStack := func(edit func(*pulumiv1.StackSpec)) func(*v1alpha1.Run) {
		return func(run *v1alpha1.Run) { edit(&run.Spec.Stack) }
	}
	secret := func(ref pulumiv1.ResourceRef) func(*v1alpha1.Run) {
		return onStack(func(s *pulumiv1.StackSpec) { s.SecretsRef = map[string]pulumiv1.ResourceRef{"token": ref} })
	}
	configMap := func(ref pulumiv1.ConfigMapRef) func(*v1alpha1.Run) {
		return onStack(func(s *pulumiv1.StackSpec) { s.ConfigRef = map[string]pulumiv1.ConfigMapRef{"text": ref} })
	}
	pins := func(name, digest string) func(*v1alpha1.Run) {
		return func(run *v1alpha1.Run) {
			run.Spec.GoldenPaths = []v1alpha1.PinnedGoldenPath{{Name: name, Version: "1.0.0", Digest: digest}}
		}
	}
	other := secretRef("orders", "token")
	other.Secret.Namespace = "kube-system"
	sound := goldenPath("sound")
	for name, test := range map[string]struct {
		run  func(*v1alpha1.Run)
		want string // NS stands for the namespace
	}{
		"a Secret that is not there":       {secret(secretRef("none", "a")), "Failed: Secret NS/none does not exist; create it. It is tried again."},
		"a key that is not there":          {secret(secretRef("orders", "none")), `Failed: Secret NS/orders has no key "none", which secret config token refers to. It is tried again.`},
		"a Secret of another namespace":    {secret(other), "Failed: secret config token refers to a Secret in namespace kube-system; only NS itself is allowed."},
		"an environment variable of ours":  {secret(pulumiv1.ResourceRef{Type: "Env", Env: &pulumiv1.EnvSelector{Name: "HOME"}}), `Failed: The reference of secret config token is of type "Env"; use Secret or Literal with its value.`},
		"a file of ours":                   {secret(pulumiv1.ResourceRef{Type: "FS", FileSystem: &pulumiv1.FSSelector{Path: "/etc/passwd"}}), `Failed: The reference of secret config token is of type "FS"; use Secret or Literal with its value.`},
		"a literal without its value":      {secret(pulumiv1.ResourceRef{Type: "Literal"}), `Failed: The reference of secret config token is of type "Literal"; use Secret or Literal with its value.`},
		"a ConfigMap that is not there":    {configMap(pulumiv1.ConfigMapRef{Name: "none", Key: "a"}), "Failed: ConfigMap NS/none does not exist; create it. It is tried again."},
		"a key of it that is not there":    {configMap(pulumiv1.ConfigMapRef{Name: "settings", Key: "none"}), `Failed: ConfigMap NS/settings has no key "none", which config text refers to. It is tried again.`},
		"a value that is no JSON":          {configMap(pulumiv1.ConfigMapRef{Name: "settings", Key: "text", JSON: true}), `Failed: Key "text" of ConfigMap NS/settings is no JSON, which config text asks for.`},
		"a snapshot that is gone":          {func(run *v1alpha1.Run) { run.Spec.Snapshot = "orders-gone" }, "Failed: The snapshot orders-gone of the Program is gone; propose the change again. It is tried again."},
		"a snapshot with other content":    {func(run *v1alpha1.Run) { run.Spec.Snapshot = "orders-forged" }, "Failed: The snapshot orders-forged does not hold the Program it is named after; nothing was run. Propose the change again."},
		"a golden path that is gone":       {pins("gone", "sha256:x"), "Failed: Golden path gone 1.0.0 is no longer in the catalogue. It is tried again."},
		"a golden path with another pin":   {pins("sound", "sha256:x"), "Failed: Golden path sound 1.0.0 is not what it was when the change was proposed; nothing was run. Propose the change again."},
		"a golden path with other content": {pins("forged", sound.Spec.Digest), "Failed: Golden path forged 1.0.0 is not what it was when the change was proposed; nothing was run. Propose the change again."},
		"an identity that is not there":    {func(run *v1alpha1.Run) { run.Spec.ServiceAccountName = "nobody" }, "Failed: ServiceAccount NS/nobody does not exist; create it. It is tried again."},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.has(&corev1.Secret{ObjectMeta: s.meta("orders"), StringData: map[string]string{"token": "hunter2"}})
			s.has(&corev1.ConfigMap{ObjectMeta: s.meta("settings"), Data: map[string]string{"text": "plain"}})
			for _, version := range []*v1alpha1.GoldenPathVersion{
				sound.DeepCopy(), goldenPath("forged", func(spec *v1alpha1.GoldenPathVersionSpec) { spec.Digest = sound.Spec.Digest }),
			} {
				if err := client.IgnoreAlreadyExists(s.admin.Create(t.Context(), version)); err != nil {
					t.Fatal(err)
				}
			}
			forged := &appsv1.ControllerRevision{ObjectMeta: s.meta("orders-forged"), Data: runtime.RawExtension{Raw: []byte(`{"outputs":{"a":"evil"}}`)}, Revision: 1}
			forged.Labels = map[string]string{v1alpha1.ServiceLabel: "orders"}
			if err := s.controller.Create(t.Context(), forged); err != nil {
				t.Fatal(err)
			}
			s.wants("first", test.run)
			if diff := cmp.Diff(strings.ReplaceAll(test.want, "NS", s.namespace), stands(s.look("first"))); diff != "" {
				t.Error(diff)
			}
			if n := len(s.launcher.Jobs()); n != 0 {
				t.Errorf("%d runners were started", n)
			}
		})
	}
}

// Without the approved plan the runner says less, but runs: it decides by digests.
func TestAPlanThatIsNoLongerKept(t *testing.T) {
	for name, artefact := range map[string]string{"its artefact is gone": "none", "it has none": ""} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			preview := s.wants("preview")
			preview.Status.Artefacts.Plan = artefact
			if err := s.controller.Status().Update(t.Context(), preview); err != nil {
				t.Fatal(err)
			}
			run := s.wants("first", func(run *v1alpha1.Run) {
				run.Spec.Approved = &v1alpha1.ApprovedPlan{Digest: "sha256:p", Preview: "preview"}
			})
			job, err := s.reconciler.Jobs.Build(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			if job.ApprovedSteps != nil || job.Approved.Digest != "sha256:p" {
				t.Errorf("got %+v and %d steps", job.Approved, len(job.ApprovedSteps))
			}
		})
	}
}
