package web

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/towpath-dev/towpath/components"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
	"github.com/towpath-dev/towpath/web/compose"
)

func step(kind v1alpha1.StepKind, token, object string) v1alpha1.PlanStep {
	return v1alpha1.PlanStep{Kind: kind, Type: token, Name: "logical", Object: object}
}

func TestTheConsequenceOfAPlan(t *testing.T) {
	const volume, deployment = "kubernetes:core/v1:PersistentVolumeClaim", "kubernetes:apps/v1:Deployment"
	for name, test := range map[string]struct {
		steps   []v1alpha1.PlanStep
		summary v1alpha1.PlanSummary
		want    string
	}{
		"nothing": {nil, v1alpha1.PlanSummary{Same: 4}, "Nothing changes."},
		"only new things": {
			[]v1alpha1.PlanStep{step(v1alpha1.StepCreate, deployment, "shop/web")},
			v1alpha1.PlanSummary{Create: 1},
			"Only creates: 1 new resource. Nothing that runs is touched.",
		},
		"a volume that is replaced comes first": {
			[]v1alpha1.PlanStep{step(v1alpha1.StepReplace, volume, "shop/data"), step(v1alpha1.StepUpdate, deployment, "shop/web")},
			v1alpha1.PlanSummary{Replace: 1, Update: 1, Create: 2},
			"Replaces PersistentVolumeClaim data: deleted and made anew. What is stored in PersistentVolumeClaim data may be lost unless it is backed up. Updates Deployment web in place. Creates 2 new resources.",
		},
		"more than a sentence can name": {
			[]v1alpha1.PlanStep{step(v1alpha1.StepDelete, deployment, "a"), step(v1alpha1.StepDelete, deployment, "b"), step(v1alpha1.StepDelete, deployment, "c"), step(v1alpha1.StepDelete, deployment, "d")},
			v1alpha1.PlanSummary{Delete: 4},
			"Deletes Deployment a, Deployment b, Deployment c and 1 more.",
		},
		"steps that did not fit": {nil, v1alpha1.PlanSummary{Delete: 900}, "Deletes 900 resources."},
	} {
		t.Run(name, func(t *testing.T) {
			got := planView("plan", v1alpha1.RunPlan{Steps: test.steps}, test.summary).Consequence
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAStepAsPeopleKnowIt(t *testing.T) {
	value := func(raw string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(raw)} }
	got := stepView(v1alpha1.PlanStep{
		Kind: v1alpha1.StepReplace, Type: "kubernetes:core/v1:Secret", Name: "orders-db-auth", Object: "shop-dev/auth", Parent: "orders-db", Omitted: 2,
		Changes: []v1alpha1.PropertyChange{
			{Path: "data.password", Old: value(`"[secret]"`), New: value(`"[secret]"`), Replaces: true},
			{Path: "spec.host", New: value(`"[unknown]"`)},
			{Path: "spec.list", Old: value(`[1.50, {"a": "b\u003c\u0026"}]`), New: value(`"text"`)},
		},
	})
	want := components.StepView{
		Op: components.Replace, Name: "auth", Where: "shop-dev", Kind: "Secret", Instance: "orders-db", Reason: "forced by data.password", Omitted: 2,
		Changes: []components.ChangeView{
			{Path: "data.password", Old: components.ValueView{State: components.Secret}, New: components.ValueView{State: components.Secret}, Forces: true},
			{Path: "spec.host", New: components.ValueView{State: components.Unknown}},
			{Path: "spec.list", Old: components.ValueView{State: components.Known, Text: `[1.50,{"a":"b<&"}]`}, New: components.ValueView{State: components.Known, Text: "text"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRulesInPlainWords(t *testing.T) {
	for name, test := range map[string]struct {
		rule v1alpha1.ApprovalRule
		want string
	}{
		"one approval":    {v1alpha1.ApprovalRule{Required: 1}, "Needs 1 approval; never the author's own."},
		"nothing said":    {v1alpha1.ApprovalRule{}, "Needs 1 approval; never the author's own."},
		"two of a group":  {v1alpha1.ApprovalRule{Required: 2, Groups: []string{"dba"}}, "Needs 2 approvals from different people of dba; never the author's own."},
		"either group":    {v1alpha1.ApprovalRule{Required: 1, Groups: []string{"dba", "sre"}}, "Needs 1 approval of dba or sre; never the author's own."},
		"one that lapses": {v1alpha1.ApprovalRule{Required: 1, ExpiresAfter: &metav1.Duration{Duration: 72 * time.Hour}}, "Needs 1 approval; never the author's own; an approval that is not used holds for 3 days."},
	} {
		t.Run(name, func(t *testing.T) {
			environment := v1alpha1.Environment{ObjectMeta: metav1.ObjectMeta{Name: "prod"}, Spec: v1alpha1.EnvironmentSpec{Approval: test.rule}}
			if diff := cmp.Diff(test.want, approvalRule(environment)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhoDecidesNamesTheRuleThatApproves(t *testing.T) {
	automatic := func(reasons ...string) v1alpha1.Environment {
		environment := v1alpha1.Environment{ObjectMeta: metav1.ObjectMeta{Name: "dev"}}
		for _, reason := range reasons {
			environment.Spec.AutoApprove = append(environment.Spec.AutoApprove, v1alpha1.AutoApproveRule{Reason: reason})
		}
		return environment
	}
	for name, test := range map[string]struct {
		environment v1alpha1.Environment
		want        string
	}{
		"no rule":   {automatic(), "Needs 1 approval; never the author's own."},
		"one rule":  {automatic("Nothing is deleted or replaced."), "Applies by itself when nothing is deleted or replaced. Otherwise needs 1 approval; never the author's own."},
		"two rules": {automatic("Nothing changes", "DNS alone changes"), "Applies by itself when nothing changes, or when DNS alone changes. Otherwise needs 1 approval; never the author's own."},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, whoDecides(test.environment)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatBecameOfAnEnvironmentWhenTheChangeEnded(t *testing.T) {
	cr := &v1alpha1.ChangeRequest{Status: v1alpha1.ChangeRequestStatus{
		Phase: v1alpha1.ChangeFailed, Message: "dev: The apply failed: a long story",
		Stacks: []v1alpha1.StackChange{{Environment: "dev", Phase: v1alpha1.StackFailed}, {Environment: "test", Phase: v1alpha1.StackInReview}},
	}}
	if diff := cmp.Diff("Failed in dev. Nothing more of it is applied.", outcome(cr)); diff != "" {
		t.Error(diff)
	}
	for i, want := range []components.TagView{{Tone: components.Bad, Text: "Failed"}, {Tone: components.Idle, Text: "Not applied"}} {
		if diff := cmp.Diff(want, stackTag(cr, &cr.Status.Stacks[i])); diff != "" {
			t.Error(diff)
		}
	}
	cr.Status.Phase = v1alpha1.ChangeInReview
	if diff := cmp.Diff("Waiting for review", stackTag(cr, &cr.Status.Stacks[1]).Text); diff != "" {
		t.Error(diff)
	}
}

func TestHowLongSomethingTook(t *testing.T) {
	for d, want := range map[time.Duration]string{14 * time.Second: "14 s", 74 * time.Second: "1 min 14 s"} {
		if got := lasted(d); got != want {
			t.Errorf("what took %s is said to have taken %q, want %q", d, got, want)
		}
	}
}

func TestAFormOffersWhatThereIsToChooseFrom(t *testing.T) {
	const kept = "blue-canary"
	colour := v1alpha1.GoldenPathInput{Name: "colour", Label: "Colour", Type: v1alpha1.TypeString, Options: []string{"blue-canary", "red"}}
	tier := colour
	tier.Name, tier.Label, tier.Secret = "tier", "Tier", true
	host := v1alpha1.GoldenPathInput{Name: "host", Label: "Host", Type: v1alpha1.TypeString}
	version := v1alpha1.GoldenPathVersion{Spec: v1alpha1.GoldenPathVersionSpec{
		GoldenPath: "paint", Version: "1.0.0", Stage: v1alpha1.StagePublished, Token: "paint:index:Paint",
		Inputs: []v1alpha1.GoldenPathInput{colour, tier, host}, Outputs: []v1alpha1.GoldenPathOutput{{Name: "host", Type: v1alpha1.TypeString}, {Name: "path", Type: v1alpha1.TypeString}},
	}}
	world := compose.World{
		Catalogue: program.NewCatalogue([]v1alpha1.GoldenPathVersion{version}), GoldenPaths: map[string]v1alpha1.GoldenPathSpec{"paint": {Title: "Paint"}},
		Environments: []v1alpha1.Environment{{ObjectMeta: metav1.ObjectMeta{Name: "dev"}}},
	}
	form := compose.Form{Instances: []compose.Instance{
		{Name: "wall", Path: "paint", Inputs: map[string]compose.Input{"tier": {Secrets: map[string]compose.Secret{"dev": {Value: kept}}}}},
		{Name: "door", Path: "paint"},
	}}
	problem := compose.Problem{Field: compose.FieldInput("wall", "colour"), Message: "Colour is required"}
	view, err := composeView(world, &form, []compose.Problem{problem}, func(_, _ string) string { return "sealed" })
	if err != nil {
		t.Fatal(err)
	}
	link := components.ProblemLinkView{Text: "wall (Paint): Colour is required.", URL: "#input.wall.colour"}
	if diff := cmp.Diff([]components.ProblemLinkView{link}, view.Problems); diff != "" {
		t.Error(diff)
	}
	fields := map[string]components.FieldView{}
	for _, field := range slices.Concat(view.Instances[0].Fields, view.Instances[0].Fields[1].PerEnvironment) {
		fields[field.Name] = field
	}
	for name, want := range map[string][]components.OptionView{
		"input.wall.colour":    {{Label: "None"}, {Value: "blue-canary", Label: "blue-canary"}, {Value: "red", Label: "red"}},
		"secret.wall.tier.dev": {{Label: "Choose one"}, {Value: "blue-canary", Label: "blue-canary"}, {Value: "red", Label: "red"}},
	} {
		if diff := cmp.Diff(want, fields[name].Options); diff != "" || fields[name].Kind != components.Select {
			t.Errorf("%s is asked for by %q, with options (-want +got):\n%s", name, fields[name].Kind, diff)
		}
	}
	if wire := fields["input.wall.host"].Wire; wire == nil || !wire.Suggested {
		t.Error("an output of the input's own name is not suggested")
	}
	if wire := fields["input.wall.colour"].Wire; wire == nil || wire.Suggested {
		t.Error("an output of another name is suggested, or none is offered")
	}
	if got, want := fields["secret.wall.tier.dev"].Label, "dev, given and kept"; got != want {
		t.Errorf("a secret that was given is called %q, want %q", got, want)
	}
}

func TestTheOrderOfEnvironments(t *testing.T) {
	environment := func(name string, after ...v1alpha1.EnvironmentName) v1alpha1.Environment {
		return v1alpha1.Environment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.EnvironmentSpec{After: after}}
	}
	view := orderView([]v1alpha1.Environment{
		environment("dev"), environment("qa", "dev"), environment("test", "dev"), environment("prod", "qa", "test"), environment(v1alpha1.DefaultEnvironment),
	}, func(e v1alpha1.Environment) components.OrderNodeView { return components.OrderNodeView{Name: e.Name} })
	want := components.OrderView{
		Label:  "Changes go to dev, then to qa and test, then to prod.",
		Levels: [][]components.OrderNodeView{{{Name: "dev"}}, {{Name: "qa"}, {Name: "test"}}, {{Name: "prod"}}},
	}
	if diff := cmp.Diff(want, view); diff != "" {
		t.Error(diff)
	}
}

func TestWhatAChangeIsCalled(t *testing.T) {
	for name, test := range map[string]struct{ description, title, rest string }{
		"its first line":   {"Bigger database\n\nThe import\tfills it.", "Bigger database", "The import    fills it."},
		"without words":    {"", "Change of orders", ""},
		"nothing to trick": {"a\u202eb\nc\x1b[31md", `a\u202eb`, `c\x1b[31md`},
	} {
		t.Run(name, func(t *testing.T) {
			title, rest := titleOf(&v1alpha1.ChangeRequest{Spec: v1alpha1.ChangeRequestSpec{Service: "orders", Description: test.description}})
			if diff := cmp.Diff([2]string{test.title, test.rest}, [2]string{title, rest}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDocumentationIsSafe(t *testing.T) {
	component, err := readme("# Title\n\n## Part\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1)) [ok](https://example.com)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
	if err != nil {
		t.Fatal(err)
	}
	html, err := renderHTML(t.Context(), component)
	if err != nil {
		t.Fatal(err)
	}
	want := "<h3>Part</h3>\n<!-- raw HTML omitted -->\n<p>x <a href=\"https://example.com\">ok</a></p>\n" +
		"<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</tbody>\n</table>\n"
	if diff := cmp.Diff(want, string(html)); diff != "" {
		t.Error(diff)
	}
}
