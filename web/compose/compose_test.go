package compose_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
	"github.com/towpath-dev/towpath/web/compose"
)

// world has the built-in golden paths and three environments.
func world(t *testing.T, stacks ...*pulumiv1.Stack) compose.World {
	t.Helper()
	builtin, err := goldenpaths.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var versions []v1alpha1.GoldenPathVersion
	for _, version := range builtin {
		versions = append(versions, version.Version)
	}
	w := compose.World{Catalogue: program.NewCatalogue(versions), Teams: []string{"shop"}, Stacks: stacks}
	for _, name := range []string{"dev", "test", "prod", v1alpha1.DefaultEnvironment} {
		w.Environments = append(w.Environments, v1alpha1.Environment{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return w
}

func stack(environment string, config map[string]string, secrets map[string]string) *pulumiv1.Stack {
	s := &pulumiv1.Stack{ObjectMeta: metav1.ObjectMeta{Name: "orders-" + environment, Labels: map[string]string{v1alpha1.EnvironmentLabel: environment}}}
	for key, value := range config {
		if s.Spec.Config == nil {
			s.Spec.Config = map[string]apiextensionsv1.JSON{}
		}
		s.Spec.Config[key] = apiextensionsv1.JSON{Raw: []byte(value)}
	}
	for key, ref := range secrets {
		name, field, _ := strings.Cut(ref, "/")
		if s.Spec.SecretsRef == nil {
			s.Spec.SecretsRef = map[string]pulumiv1.ResourceRef{}
		}
		s.Spec.SecretsRef[key] = pulumiv1.ResourceRef{Type: pulumiv1.RefSecret, Secret: &pulumiv1.SecretSelector{Name: name, Key: field}}
	}
	return s
}

func programOf(t *testing.T, text string) pulumiv1.ProgramSpec {
	t.Helper()
	var spec pulumiv1.ProgramSpec
	if err := yaml.UnmarshalStrict([]byte(text), &spec); err != nil {
		t.Fatal(err)
	}
	return spec
}

// plainly is a value as JSON data, so that spelling does not matter.
func plainly(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var generic any
	if err := json.Unmarshal(text, &generic); err != nil {
		t.Fatal(err)
	}
	return generic
}

const wired = `
packages: {postgres: postgres@1.0.0, web-service: web-service@1.0.0}
configuration:
  replicas: {type: Number, default: 1}
  dbPassword: {type: String}
resources:
  orders-db:
    type: postgres:index:Postgres
    properties: {database: orders, password: "${dbPassword}"}
  orders-web:
    type: web-service:index:WebService
    properties: {image: "ghcr.io/acme/orders:1.0.0", replicas: "${replicas}", secretName: "${orders-db.secretName}"}
outputs: {url: "${orders-web.url}", databaseHost: "${orders-db.host}"}
`

// Whatever a Program says, a form that was opened and sent unchanged proposes the
// same Program.
func TestAProgramComesBackAsItWas(t *testing.T) {
	for name, text := range map[string]string{
		"two instances wired together": wired,
		"lists, maps and expressions in texts": `
packages: {web-service: web-service@1.0.0}
resources:
  web:
    type: web-service:index:WebService
    properties: {image: "a/b:1", host: "${name}.example.com", env: {LOG: info, URL: "http://${name}/?a=b"}}
variables: {name: orders}`,
		"parts that no field shows": `
packages: {web-service: web-service@1.0.0}
configuration: {tier: {type: String, default: gold}, shared: {type: Number}}
resources:
  web:
    type: web-service:index:WebService
    properties:
      image: "a/b:1"
      port: "${shared}"
      replicas: "${shared}"
      env: {"fn::fromJSON": "{}"}
      unknown: {a: [1, 2]}
    options: {protect: true, dependsOn: ["${settings}"]}
  settings:
    type: kubernetes:core/v1:ConfigMap
    properties: {data: {tier: "${tier}"}}
outputs: {all: ["${web.url}", "${tier}"], url: "${web.url}", again: "${web.url}"}`,
		"numbers as they were written": `
packages: {web-service: web-service@1.0.0}
resources:
  web: {type: "web-service:index:WebService", properties: {image: "a/b:1", replicas: 3, port: "8080"}}`,
		"a golden path that is gone":     `{packages: {gone: gone@2.0.0}, resources: {x: {type: "gone:index:Gone", properties: {a: 1}}}}`,
		"a version that is gone":         `{packages: {postgres: postgres@0.1.0}, resources: {x: {type: "postgres:index:Postgres", properties: {a: 1}}}}`,
		"names that are no DNS labels":   `{packages: {postgres: postgres@1.0.0}, resources: {My_DB: {type: "postgres:index:Postgres"}}}`,
		"empty values":                   `{packages: {web-service: web-service@1.0.0}, resources: {web: {type: "web-service:index:WebService", properties: {image: "", env: {}}}}}`,
		"texts with line breaks":         `{packages: {web-service: web-service@1.0.0}, resources: {web: {type: "web-service:index:WebService", properties: {image: "a\nb", env: {A: "x\ny"}}}}}`,
		"texts with space around them":   `{packages: {web-service: web-service@1.0.0}, resources: {web: {type: "web-service:index:WebService", properties: {image: " a ", env: {A: " x "}}}}}`,
		"texts that look like numbers":   `{packages: {web-service: web-service@1.0.0}, resources: {web: {type: "web-service:index:WebService", properties: {image: "1", env: {A: "2"}}}}}`,
		"numbers where texts are wanted": `{packages: {web-service: web-service@1.0.0}, resources: {web: {type: "web-service:index:WebService", properties: {image: 1, env: {A: 2}}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			w, spec := world(t, stack("dev", nil, map[string]string{"dbPassword": "orders-db-dev/password"})), programOf(t, text)
			form := compose.ReadService(w, "shop", "orders", spec)
			sent := send(t, w, form)
			got := sent.Build(w).Spec.Program
			if diff := cmp.Diff(plainly(t, spec), plainly(t, got)); diff != "" {
				t.Errorf("it became another Program (-was +is):\n%s", diff)
			}
		})
	}
}

// send posts a form as its page has it: fields and what it carries along.
func send(t *testing.T, w compose.World, form compose.Form, changes ...string) compose.Form {
	t.Helper()
	rest, err := json.Marshal(form.Rest)
	if err != nil {
		t.Fatal(err)
	}
	values := url.Values{
		"draft": {form.Draft}, "base": {form.Base}, "rest": {string(rest)},
		"namespace": {form.Namespace}, "service": {form.Service}, "description": {form.Description}, "environments": form.Environments,
	}
	if form.Fixed {
		values.Set("fixed", "true")
	}
	for _, instance := range form.Instances {
		values.Add("instance", instance.Name+"="+instance.Path)
		for _, output := range instance.Exports {
			values.Add("export", instance.Name+"."+output)
		}
		for name, input := range instance.Inputs {
			values.Set(compose.FieldInput(instance.Name, name), strings.ReplaceAll(input.Text, "\n", "\r\n"))
			values.Set(compose.FieldWire(instance.Name, name), input.Wire)
			for environment, text := range input.Each {
				values.Set(compose.FieldEach(instance.Name, name, environment), text)
			}
			for environment, secret := range input.Secrets {
				values.Set(compose.FieldRef(instance.Name, name, environment), secret.Ref)
				values.Set(compose.FieldSecret(instance.Name, name, environment), secret.Value)
			}
		}
	}
	for i := 0; i < len(changes); i += 2 {
		values.Set(changes[i], changes[i+1])
	}
	sent, err := compose.Parse(values, w, func(string, string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	return sent
}

func TestValuesOfEnvironments(t *testing.T) {
	stacks := []*pulumiv1.Stack{
		stack("dev", nil, map[string]string{"dbPassword": "orders-db-dev/password"}),
		stack("prod", map[string]string{"replicas": "3", "other": `"x"`}, map[string]string{"dbPassword": "orders-db-prod/password"}),
	}
	for name, test := range map[string]struct {
		changes []string
		want    map[string]compose.Values
	}{
		"unchanged ones are proposed as they are": {nil, map[string]compose.Values{
			"dev":  {SecretsRef: dbPassword("orders-db-dev/password")},
			"prod": {Config: config("replicas", "3"), SecretsRef: dbPassword("orders-db-prod/password")},
		}},
		"one that was emptied becomes what holds everywhere, for the Stack keeps what it is not told": {
			[]string{"each.orders-web.replicas.prod", ""}, map[string]compose.Values{
				"dev":  {SecretsRef: dbPassword("orders-db-dev/password")},
				"prod": {Config: config("replicas", "1"), SecretsRef: dbPassword("orders-db-prod/password")},
			},
		},
		"a new one goes to its environment": {
			[]string{"each.orders-web.memory.dev", "64Mi", "input.orders-web.memory", "128Mi"}, map[string]compose.Values{
				"dev":  {Config: config("ordersWebMemory", `"64Mi"`), SecretsRef: dbPassword("orders-db-dev/password")},
				"prod": {Config: config("replicas", "3"), SecretsRef: dbPassword("orders-db-prod/password")},
			},
		},
		"another Secret": {
			[]string{"ref.orders-db.password.dev", "new/key"}, map[string]compose.Values{
				"dev":  {SecretsRef: dbPassword("new/key")},
				"prod": {Config: config("replicas", "3"), SecretsRef: dbPassword("orders-db-prod/password")},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := world(t, stacks...)
			form := send(t, w, compose.ReadService(w, "shop", "orders", programOf(t, wired)), test.changes...)
			proposal := form.Build(w)
			got := map[string]compose.Values{}
			for _, environment := range proposal.Spec.Environments {
				got[string(environment.Name)] = compose.Values{Config: environment.Config, SecretsRef: environment.SecretsRef}
			}
			if diff := cmp.Diff(plainly(t, test.want), plainly(t, got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if problems := form.Check(w, proposal); len(problems) > 0 {
				t.Errorf("problems: %v", problems)
			}
		})
	}
}

func config(key, value string) map[string]apiextensionsv1.JSON {
	return map[string]apiextensionsv1.JSON{key: {Raw: []byte(value)}}
}

func dbPassword(ref string) map[string]v1alpha1.SecretKeyRef {
	name, field, _ := strings.Cut(ref, "/")
	return map[string]v1alpha1.SecretKeyRef{"dbPassword": {Name: name, Key: field}}
}

// newService is the form of a new service with a database and a web service.
func newService(t *testing.T, w compose.World) compose.Form {
	t.Helper()
	form := compose.New(w)
	form.Service, form.Namespace = "orders", "shop"
	for _, add := range [][2]string{{"postgres", "orders-db"}, {"web-service", "orders-web"}} {
		form.AddPath, form.AddName = add[0], add[1]
		if problems := form.Add(w, nil); len(problems) > 0 {
			t.Fatal(problems)
		}
	}
	return form
}

func TestProblemsAreAtTheirFields(t *testing.T) {
	complete := []string{
		"input.orders-web.image", "ghcr.io/acme/orders:1", "secret.orders-db.password.dev", "a", "secret.orders-db.password.test", "b", "secret.orders-db.password.prod", "c",
	}
	for name, test := range map[string]struct {
		changes []string
		want    []string // fields
	}{
		"nothing is wrong":               {nil, nil},
		"no image":                       {[]string{"input.orders-web.image", ""}, []string{"input.orders-web.image"}},
		"an image that is none":          {[]string{"input.orders-web.image", "a b"}, []string{"input.orders-web.image"}},
		"too many replicas":              {[]string{"input.orders-web.replicas", "99"}, []string{"input.orders-web.replicas"}},
		"replicas that are no number":    {[]string{"input.orders-web.replicas", "two"}, []string{"input.orders-web.replicas"}},
		"too many in one environment":    {[]string{"each.orders-web.replicas.prod", "99"}, []string{"each.orders-web.replicas.prod"}},
		"no number in one environment":   {[]string{"each.orders-web.replicas.prod", "many"}, []string{"each.orders-web.replicas.prod"}},
		"too many everywhere":            {[]string{"each.orders-web.replicas.prod", "3", "input.orders-web.replicas", "99"}, []string{"input.orders-web.replicas"}},
		"an image for one place alone":   {[]string{"input.orders-web.image", "", "each.orders-web.image.dev", "a/b:1"}, []string{"each.orders-web.image.prod", "each.orders-web.image.test"}},
		"no password in one environment": {[]string{"secret.orders-db.password.test", ""}, []string{"secret.orders-db.password.test"}},
		"a Secret without a key":         {[]string{"secret.orders-db.password.test", "", "ref.orders-db.password.test", "name"}, []string{"ref.orders-db.password.test"}},
		"a password that is too long":    {[]string{"secret.orders-db.password.test", strings.Repeat("x", 201)}, []string{"secret.orders-db.password.test"}},
		"a wire to nothing":              {[]string{"wire.orders-web.secretName", "gone.secretName"}, []string{"wire.orders-web.secretName"}},
		"a wire that does not fit":       {[]string{"wire.orders-web.replicas", "orders-db.host"}, []string{"wire.orders-web.replicas"}},
		"a bad entry of a map":           {[]string{"input.orders-web.env", "1X=y"}, []string{"input.orders-web.env"}},
		"no service":                     {[]string{"service", ""}, []string{"service"}},
		"a service in capitals":          {[]string{"service", "Orders"}, []string{"service"}},
		"another team":                   {[]string{"namespace", "finance"}, []string{"namespace"}},
		"no environment":                 {[]string{"environments", ""}, []string{"environments"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := world(t)
			form := send(t, w, newService(t, w), slices.Concat(complete, test.changes)...)
			var got []string
			for _, problem := range form.Check(w, form.Build(w)) {
				got = append(got, problem.Field)
				if problem.Message == "" {
					t.Errorf("%s has no words", problem.Field)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, slices.Compact(got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestTypedSecretsBecomeSecretsThatTellNothing(t *testing.T) {
	w := world(t)
	form := send(t, w, newService(t, w), "input.orders-web.image", "a/b:1",
		"secret.orders-db.password.dev", "hunter2", "secret.orders-db.password.test", "hunter2", "ref.orders-db.password.prod", "kept/key")
	proposal := form.Build(w)
	if len(proposal.Secrets) != 2 {
		t.Fatalf("there are %d Secrets; want one each for dev and test", len(proposal.Secrets))
	}
	names := map[string]bool{}
	for _, secret := range proposal.Secrets {
		names[secret.Name] = true
		if got := string(secret.Data["value"]); got != "hunter2" {
			t.Errorf("Secret %s holds %q", secret.Name, got)
		}
	}
	if len(names) != 2 {
		t.Error("two environments share a Secret")
	}
	text, err := json.Marshal(proposal.Spec)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hunter2") {
		t.Errorf("the change tells the secret: %s", text)
	}
	again := form.Build(w)
	if diff := cmp.Diff(proposal.Secrets, again.Secrets); diff != "" {
		t.Errorf("the same form makes other Secrets:\n%s", diff)
	}
	form.Draft = "another"
	for _, secret := range form.Build(w).Secrets {
		if names[secret.Name] {
			t.Errorf("the name %s of a Secret depends on its value alone", secret.Name)
		}
	}
}

func TestOnlyWhatFitsIsOfferedForAWire(t *testing.T) {
	w := world(t)
	form := newService(t, w)
	input := func(path, name string) v1alpha1.GoldenPathInput {
		for _, i := range form.Version(w, path).Spec.Inputs {
			if i.Name == name {
				return i
			}
		}
		t.Fatalf("%s has no input %s", path, name)
		return v1alpha1.GoldenPathInput{}
	}
	texts := []string{"orders-db.host", "orders-db.database", "orders-db.username", "orders-db.secretName"}
	if diff := cmp.Diff(texts, form.Fitting(w, "orders-web", input("web-service", "secretName"))); diff != "" {
		t.Errorf("texts for a text:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"orders-db.port"}, form.Fitting(w, "orders-web", input("web-service", "port"))); diff != "" {
		t.Errorf("whole numbers for a whole number:\n%s", diff)
	}
	form.Instances[1].Inputs["secretName"] = compose.Input{Wire: "orders-db.secretName"}
	if got := form.Fitting(w, "orders-db", input("postgres", "database")); len(got) > 0 {
		t.Errorf("a wire that closes a circle is offered: %v", got)
	}
	form.Remove("orders-db")
	if got := form.Instances[0].Inputs["secretName"].Wire; got != "" {
		t.Errorf("a wire leads to %s, which was removed", got)
	}
}

// A golden path has one version in a Program: to choose another moves all of its
// instances.
func TestAnotherVersionOfAGoldenPath(t *testing.T) {
	builtin, err := goldenpaths.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var versions []v1alpha1.GoldenPathVersion
	for _, version := range builtin {
		retired, newer := version.Version, version.Version
		retired.Spec.Version, retired.Spec.Stage = "0.9.0", v1alpha1.StageRetired
		newer.Spec.Version = "1.1.0"
		versions = append(versions, version.Version, newer, retired)
	}
	w := world(t)
	w.Catalogue = program.NewCatalogue(versions)
	opened := compose.ReadService(w, "shop", "orders", programOf(t, wired))
	moved := send(t, w, opened, compose.FieldVersion("web-service"), "1.1.0")
	want := map[string]string{"postgres": "postgres@1.0.0", "web-service": "web-service@1.1.0"}
	if diff := cmp.Diff(want, moved.Build(w).Spec.Program.Packages); diff != "" {
		t.Error(diff)
	}
	back := send(t, w, opened, compose.FieldVersion("web-service"), "0.9.0")
	problems := back.Check(w, back.Build(w))
	if !slices.ContainsFunc(problems, func(p compose.Problem) bool { return p.Field == compose.FieldVersion("web-service") }) {
		t.Errorf("a retired version is accepted: %v", problems)
	}
}

func TestAnInstanceIsAddedOnce(t *testing.T) {
	for name, test := range map[string]struct{ path, name, wantField string }{
		"without a golden path":       {"", "x", compose.FieldAddPath},
		"an unknown golden path":      {"nothing", "x", compose.FieldAddPath},
		"a name in capitals":          {"postgres", "X", compose.FieldAddName},
		"a name that is taken":        {"postgres", "orders-db", compose.FieldAddName},
		"a name that the engine uses": {"postgres", "pulumi", compose.FieldAddName},
		"no name: one is chosen":      {"postgres", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := world(t)
			form := newService(t, w)
			form.AddPath, form.AddName = test.path, test.name
			field := ""
			if problems := form.Add(w, nil); len(problems) > 0 {
				field = problems[0].Field
			}
			if field != test.wantField {
				t.Errorf("the problem is at %q; want %q", field, test.wantField)
			}
		})
	}
}

// A service that is not well named yet is told so where its name is, and not of a
// name that nobody has typed.
func TestAChosenNameIsOneThatCanBeUsed(t *testing.T) {
	for _, service := range []string{"", "Orders!", "-", strings.Repeat("x", 200)} {
		w := world(t)
		form := newService(t, w)
		form.Service, form.AddPath = service, "web-service"
		if problems := form.Add(w, nil); len(problems) > 0 {
			t.Errorf("beside the service %q: %v", service, problems)
		}
	}
}

func TestASealedSecretOpensForNobodyElse(t *testing.T) {
	one, err := compose.NewSealer([]byte(strings.Repeat("1", 32)))
	if err != nil {
		t.Fatal(err)
	}
	two, err := compose.NewSealer([]byte(strings.Repeat("2", 32)))
	if err != nil {
		t.Fatal(err)
	}
	sealed := one.Seal("ana", "draft", "field", "hunter2")
	if strings.Contains(sealed, "hunter2") {
		t.Error("it is no secret")
	}
	for name, test := range map[string]struct {
		sealer               *compose.Sealer
		person, draft, field string
		sealed               string
		want                 bool
	}{
		"the same person, form and field": {one, "ana", "draft", "field", sealed, true},
		"another person":                  {one, "bob", "draft", "field", sealed, false},
		"another form":                    {one, "ana", "other", "field", sealed, false},
		"another field":                   {one, "ana", "draft", "other", sealed, false},
		"another key":                     {two, "ana", "draft", "field", sealed, false},
		"damaged":                         {one, "ana", "draft", "field", sealed[1:], false},
		"no base64":                       {one, "ana", "draft", "field", "!", false},
	} {
		t.Run(name, func(t *testing.T) {
			value, ok := test.sealer.Open(test.person, test.draft, test.field, test.sealed)
			if ok != test.want || ok && value != "hunter2" {
				t.Errorf("it opens to %q, %v; want %v", value, ok, test.want)
			}
		})
	}
}
