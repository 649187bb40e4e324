package change

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func raw(text string) apiextensionsv1.JSON { return apiextensionsv1.JSON{Raw: []byte(text)} }

// ordersIn is the world of a change of service orders that goes to environments.
func ordersIn(environments ...string) *world {
	cr := &v1alpha1.ChangeRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "first"}, Spec: v1alpha1.ChangeRequestSpec{Service: "orders"}}
	for _, name := range environments {
		cr.Spec.Environments = append(cr.Spec.Environments, v1alpha1.EnvironmentProposal{Name: v1alpha1.EnvironmentName(name)})
		cr.Status.Stacks = append(cr.Status.Stacks, v1alpha1.StackChange{Environment: name})
	}
	return &world{cr: cr, stacks: map[string]*pulumiv1.Stack{}}
}

// stackOf is a Stack as it came by another door.
func stackOf(name, service, environment string) *pulumiv1.Stack {
	s := &pulumiv1.Stack{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}, Spec: pulumiv1.StackSpec{
		Stack: "acme/" + name, ProgramRef: &pulumiv1.ProgramReference{Name: service},
	}}
	if environment != "" {
		s.Labels[v1alpha1.EnvironmentLabel] = environment
	}
	return s
}

func TestANewStackIsMadeFromTheTemplate(t *testing.T) {
	passphrase := pulumiv1.ResourceRef{Type: "Secret", Secret: &pulumiv1.SecretSelector{Name: "pass", Key: "p"}}
	test := environment("test", func(e *v1alpha1.EnvironmentSpec) {
		e.After, e.Freshness = []v1alpha1.EnvironmentName{"dev", "lab"}, &metav1.Duration{Duration: time.Hour}
		e.StackTemplate = v1alpha1.StackTemplate{
			Stack: "acme/${service}/${environment}", Backend: "s3://${namespace}-state", SecretsProvider: "awskms://${environment}",
			ServiceAccountName: "deploy-${environment}",
			Config:             map[string]apiextensionsv1.JSON{"kubernetes:namespace": raw(`"${namespace}-${environment}"`)},
			EnvRefs:            map[string]pulumiv1.ResourceRef{"PULUMI_CONFIG_PASSPHRASE": passphrase},
		}
	})
	want := pulumiv1.StackSpec{
		Stack: "acme/orders/test", Backend: "s3://shop-state", SecretsProvider: "awskms://test", ServiceAccountName: "deploy-test",
		Config:     map[string]apiextensionsv1.JSON{"kubernetes:namespace": raw(`"shop-test"`)},
		EnvRefs:    map[string]pulumiv1.ResourceRef{"PULUMI_CONFIG_PASSPHRASE": passphrase},
		ProgramRef: &pulumiv1.ProgramReference{Name: "orders"},
		// lab is not in the change: what it does not bring up, it cannot wait for.
		Prerequisites: []pulumiv1.PrerequisiteRef{{
			Name: "orders-dev", Requirement: &pulumiv1.RequirementSpec{SucceededWithinDuration: &metav1.Duration{Duration: time.Hour}},
		}},
	}
	if diff := cmp.Diff(want, ordersIn("dev", "test").desired(test)); diff != "" {
		t.Error(diff)
	}
}

func TestThePrerequisiteIsTheStackThatThereIs(t *testing.T) {
	w := ordersIn("dev", "test")
	w.stacks["old-name"] = stackOf("old-name", "orders", "dev")
	test := environment("test", func(e *v1alpha1.EnvironmentSpec) { e.After = []v1alpha1.EnvironmentName{"dev"} })
	if diff := cmp.Diff([]pulumiv1.PrerequisiteRef{{Name: "old-name"}}, w.desired(test).Prerequisites); diff != "" {
		t.Error(diff)
	}
}

func TestProposedValuesAreLaidOverTheStack(t *testing.T) {
	w := ordersIn("dev")
	existing := stackOf("orders-dev", "orders", "dev")
	existing.Spec.Config = map[string]apiextensionsv1.JSON{"kept": raw("1"), "changed": raw("1"), "hidden": raw(`"plain"`)}
	existing.Spec.ConfigRef = map[string]pulumiv1.ConfigMapRef{"shown": {Name: "m"}, "moved": {Name: "m"}}
	existing.Spec.SecretsRef = map[string]pulumiv1.ResourceRef{"open": {Type: "Literal"}}
	w.stacks["orders-dev"] = existing
	w.cr.Spec.Environments[0].Config = map[string]apiextensionsv1.JSON{"changed": raw("2"), "open": raw("3"), "shown": raw("4")}
	w.cr.Spec.Environments[0].SecretsRef = map[string]v1alpha1.SecretKeyRef{"hidden": {Name: "s", Key: "k"}, "moved": {Name: "s", Key: "m"}}
	before := existing.DeepCopy()

	got := w.desired(environment("dev", func(e *v1alpha1.EnvironmentSpec) { e.StackTemplate = v1alpha1.StackTemplate{} }))
	want := pulumiv1.StackSpec{
		Stack: "acme/orders-dev", ProgramRef: &pulumiv1.ProgramReference{Name: "orders"},
		Config:    map[string]apiextensionsv1.JSON{"kept": raw("1"), "changed": raw("2"), "open": raw("3"), "shown": raw("4")},
		ConfigRef: map[string]pulumiv1.ConfigMapRef{},
		SecretsRef: map[string]pulumiv1.ResourceRef{
			"hidden": {Type: "Secret", Secret: &pulumiv1.SecretSelector{Name: "s", Key: "k"}},
			"moved":  {Type: "Secret", Secret: &pulumiv1.SecretSelector{Name: "s", Key: "m"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, existing); diff != "" {
		t.Errorf("the Stack itself was changed:\n%s", diff)
	}
}

func TestAStackIsFoundByWhatItIs(t *testing.T) {
	going := stackOf("orders-dev", "orders", "dev")
	going.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	for name, test := range map[string]struct {
		stacks      []*pulumiv1.Stack
		environment string
		found       bool
		want        string
	}{
		"there is none":                {nil, "dev", false, "orders-dev"},
		"another name":                 {[]*pulumiv1.Stack{stackOf("legacy", "orders", "dev")}, "dev", true, "legacy"},
		"another service":              {[]*pulumiv1.Stack{stackOf("orders-dev", "billing", "dev")}, "dev", false, "orders-dev"},
		"another environment":          {[]*pulumiv1.Stack{stackOf("orders-dev", "orders", "test")}, "dev", false, "orders-dev"},
		"no label is the default":      {[]*pulumiv1.Stack{stackOf("legacy", "orders", "")}, "default", true, "legacy"},
		"one that is being deleted":    {[]*pulumiv1.Stack{going}, "dev", false, "orders-dev"},
		"of two always the same first": {[]*pulumiv1.Stack{stackOf("b", "orders", "dev"), stackOf("a", "orders", "dev"), stackOf("c", "orders", "dev")}, "dev", true, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			w := ordersIn("dev")
			for _, stack := range test.stacks {
				w.stacks[stack.Name] = stack
			}
			for range 10 {
				stack, name := w.stackFor(test.environment)
				if (stack != nil) != test.found || name != test.want {
					t.Fatalf("found %t as %q, want %t as %q", stack != nil, name, test.found, test.want)
				}
			}
		})
	}
}

// Each input that decides what an apply does is in one of the digests.
func TestInputs(t *testing.T) {
	base := func() (*world, pulumiv1.StackSpec) {
		w := ordersIn("dev")
		w.cr.Spec.Program = content("a")
		return w, pulumiv1.StackSpec{Stack: "s", Config: map[string]apiextensionsv1.JSON{"a": raw(`{"x":1,"y":2}`)}}
	}
	for name, test := range map[string]struct {
		edit func(*world, *pulumiv1.StackSpec)
		want []string // the inputs that change
	}{
		"nothing":           {func(*world, *pulumiv1.StackSpec) {}, nil},
		"the order of keys": {func(_ *world, s *pulumiv1.StackSpec) { s.Config["a"] = raw(`{"y":2, "x":1}`) }, nil},
		"an empty map":      {func(_ *world, s *pulumiv1.StackSpec) { s.SecretsRef = map[string]pulumiv1.ResourceRef{} }, nil},
		"the Program":       {func(w *world, _ *pulumiv1.StackSpec) { w.cr.Spec.Program = content("b") }, []string{"program"}},
		"a golden path": {func(w *world, _ *pulumiv1.StackSpec) {
			w.cr.Status.GoldenPaths = []v1alpha1.PinnedGoldenPath{{Name: "web"}}
		}, []string{"goldenPaths"}},
		"a value": {func(_ *world, s *pulumiv1.StackSpec) { s.Config["a"] = raw(`{"x":1,"y":3}`) }, []string{"config"}},
		"a value by reference": {func(_ *world, s *pulumiv1.StackSpec) {
			s.ConfigRef = map[string]pulumiv1.ConfigMapRef{"b": {Name: "m"}}
		}, []string{"config"}},
		"a secret":           {func(_ *world, s *pulumiv1.StackSpec) { s.Secrets = map[string]string{"b": "x"} }, []string{"config"}},
		"a secret reference": {func(_ *world, s *pulumiv1.StackSpec) { s.SecretsRef = map[string]pulumiv1.ResourceRef{"b": {}} }, []string{"config"}},
		"the backend":        {func(_ *world, s *pulumiv1.StackSpec) { s.Backend = "x" }, []string{"stack"}},
		"the identity":       {func(_ *world, s *pulumiv1.StackSpec) { s.ServiceAccountName = "x" }, []string{"stack"}},
		"a variable":         {func(_ *world, s *pulumiv1.StackSpec) { s.EnvRefs = map[string]pulumiv1.ResourceRef{"A": {}} }, []string{"stack"}},
	} {
		t.Run(name, func(t *testing.T) {
			w, spec := base()
			before := w.inputs(spec)
			test.edit(w, &spec)
			var changed []string
			for _, input := range slices.Sorted(maps.Keys(before)) {
				if w.inputs(spec)[input] != before[input] {
					changed = append(changed, input)
				}
			}
			if diff := cmp.Diff(test.want, changed); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Two Stack objects may point at one Pulumi stack.
func TestTheKeyIsOfThePulumiStack(t *testing.T) {
	one := pulumiv1.StackSpec{Backend: "s3://a", Stack: "acme/orders/dev", ServiceAccountName: "x"}
	same := pulumiv1.StackSpec{Backend: "s3://a", Stack: "acme/orders/dev", Config: map[string]apiextensionsv1.JSON{"a": raw("1")}}
	if key(one) != key(same) {
		t.Error("two Stacks of one Pulumi stack have two keys")
	}
	for _, other := range []pulumiv1.StackSpec{{Backend: "s3://b", Stack: one.Stack}, {Backend: one.Backend, Stack: "acme/orders/test"}, {Backend: "s3://a,acme", Stack: "orders/dev"}} {
		if key(one) == key(other) {
			t.Errorf("%+v has the same key as %+v", other, one)
		}
	}
}
