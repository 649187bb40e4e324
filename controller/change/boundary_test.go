package change

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// A Stack that somebody has edited to reach over its environment's border is not
// previewed at all, since a preview runs before anybody has looked.
func TestAStackStaysWithinItsEnvironment(t *testing.T) {
	secret := func(name string) pulumiv1.ResourceRef {
		return pulumiv1.ResourceRef{Type: "Secret", Secret: &pulumiv1.SecretSelector{Name: name, Key: "k"}}
	}
	config := func(key string) func(*pulumiv1.StackSpec) {
		return func(spec *pulumiv1.StackSpec) {
			spec.Config = map[string]apiextensionsv1.JSON{key: {Raw: []byte(`"x"`)}}
		}
	}
	const variables = "PULUMI_CONFIG_PASSPHRASE, PULUMI_ACCESS_TOKEN, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AZURE_STORAGE_ACCOUNT, AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN"
	for name, test := range map[string]struct {
		edit func(*pulumiv1.StackSpec)
		want string // "" lets it through
	}{
		"another state backend": {
			func(spec *pulumiv1.StackSpec) { spec.Backend = "file:///elsewhere" },
			`Stack orders-dev has backend "file:///elsewhere"; in dev it is "file:///state". Set it back.`,
		},
		"another Pulumi stack": {
			func(spec *pulumiv1.StackSpec) { spec.Stack = "organization/orders/prod" },
			`Stack orders-dev has stack "organization/orders/prod"; in dev it is "organization/orders/dev". Set it back.`,
		},
		"the namespace of the provider": {
			config("kubernetes:namespace"),
			"Stack orders-dev sets config kubernetes:namespace, which is for the environment to say. Remove it.",
		},
		"a kubeconfig from a Secret": {
			func(spec *pulumiv1.StackSpec) {
				spec.SecretsRef = map[string]pulumiv1.ResourceRef{"kubernetes:kubeconfig": secret("k")}
			},
			"Stack orders-dev sets config kubernetes:kubeconfig, which is for the environment to say. Remove it.",
		},
		"a variable that loads something": {
			func(spec *pulumiv1.StackSpec) {
				spec.EnvRefs = map[string]pulumiv1.ResourceRef{"LD_PRELOAD": secret("k")}
			},
			"Stack orders-dev sets the variable LD_PRELOAD, which is not allowed. Remove it; allowed are " + variables + ".",
		},
		"the passphrase as a value of the Program": {
			func(spec *pulumiv1.StackSpec) {
				spec.EnvRefs = map[string]pulumiv1.ResourceRef{"PULUMI_CONFIG_PASSPHRASE": secret("pass")}
				spec.SecretsRef = map[string]pulumiv1.ResourceRef{"size": secret("pass")}
			},
			"Stack orders-dev takes config size from Secret pass, which holds the engine's PULUMI_CONFIG_PASSPHRASE. Use another Secret.",
		},
		"what this release does not do": {
			func(spec *pulumiv1.StackSpec) { spec.Targets, spec.Preview = []string{"urn:a"}, true },
			"Stack orders-dev uses preview, targets, which this release does not support.",
		},
		"harmless settings of the provider": {config("kubernetes:enableConfigMapMutable"), ""},
		"a value of the Program":            {config("size"), ""},
		"another service account": {
			func(spec *pulumiv1.StackSpec) { spec.ServiceAccountName = "root" },
			"", // the environment's is used, whatever it says
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			stack := &pulumiv1.Stack{Spec: pulumiv1.StackSpec{
				Stack: "organization/orders/dev", Backend: "file:///state", ProgramRef: &pulumiv1.ProgramReference{Name: "orders"},
			}}
			stack.Namespace, stack.Name = s.namespace, "orders-dev"
			stack.Labels = map[string]string{v1alpha1.EnvironmentLabel: "dev"}
			test.edit(&stack.Spec)
			if err := cluster.As(t, "dan", "developer").Create(t.Context(), stack); err != nil {
				t.Fatal(err)
			}
			cr := s.propose("first", to("dev"))
			if test.want != "" {
				if diff := cmp.Diff("dev: "+test.want, cr.Status.Message); diff != "" {
					t.Error(diff)
				}
				if runs := s.runs(v1alpha1.Preview); len(runs) > 0 || cr.Status.Phase != v1alpha1.ChangeFailed {
					t.Errorf("phase %s, %d previews", cr.Status.Phase, len(runs))
				}
				return
			}
			run := s.run(in(t, cr, "dev").Preview)
			if diff := cmp.Diff("deploy-dev", run.Spec.Stack.ServiceAccountName); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatATemplateSaysIsLaidOverAStack(t *testing.T) {
	json := func(text string) apiextensionsv1.JSON { return apiextensionsv1.JSON{Raw: []byte(text)} }
	literal := func(value string) pulumiv1.ResourceRef {
		return pulumiv1.ResourceRef{Type: "Literal", Literal: &pulumiv1.LiteralRef{Value: value}}
	}
	template := pulumiv1.StackSpec{
		ServiceAccountName: "deploy-dev",
		Config:             map[string]apiextensionsv1.JSON{"kubernetes:namespace": json(`"shop-dev"`), "a": json("1"), "b": json("1"), "c": json("1")},
		EnvRefs:            map[string]pulumiv1.ResourceRef{"P": literal("template")},
	}
	got := pulumiv1.StackSpec{
		ServiceAccountName: "root",
		Config:             map[string]apiextensionsv1.JSON{"kubernetes:namespace": json(`"kube-system"`), "own": json("2")},
		ConfigRef:          map[string]pulumiv1.ConfigMapRef{"a": {Name: "x"}},
		SecretsRef:         map[string]pulumiv1.ResourceRef{"b": literal("x")},
		Secrets:            map[string]string{"c": "x"},
		EnvRefs:            map[string]pulumiv1.ResourceRef{"P": literal("own"), "Q": literal("own")},
	}
	want := pulumiv1.StackSpec{
		ServiceAccountName: "deploy-dev",
		Config: map[string]apiextensionsv1.JSON{
			"kubernetes:namespace": json(`"shop-dev"`), "own": json("2"), "a": json("1"), "b": json("1"), "c": json("1"),
		},
		ConfigRef:  map[string]pulumiv1.ConfigMapRef{},
		SecretsRef: map[string]pulumiv1.ResourceRef{},
		Secrets:    map[string]string{},
		EnvRefs:    map[string]pulumiv1.ResourceRef{"P": literal("template"), "Q": literal("own")},
	}
	impose(&got, template)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var empty pulumiv1.StackSpec
	impose(&empty, template)
	if diff := cmp.Diff(template, empty); diff != "" {
		t.Error(diff)
	}
}
