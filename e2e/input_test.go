package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// resource is an instance of a golden path.
func resource(token string, properties map[string]any) map[string]any {
	return map[string]any{"type": token, "properties": properties}
}

func web(properties map[string]any) map[string]any {
	return resource("web-service:index:WebService", properties)
}

// withPackages is a Program of instances of the built-in golden paths.
func withPackages(resources map[string]any) map[string]any {
	return map[string]any{
		"packages":      map[string]any{"web-service": "web-service@1.0.0", "postgres": "postgres@1.0.0"},
		"configuration": map[string]any{"password": map[string]any{"type": "String", "default": "x"}},
		"resources":     resources,
	}
}

// What can never be previewed is refused in the same words at every door, and
// nothing comes of it.
func TestBadProposals(t *testing.T) {
	p := sharedPortal(t)
	t.Parallel()
	const image = "ghcr.io/acme/orders:1.0.0"
	for name, test := range map[string]struct {
		program map[string]any
		want    []string // the problems, each with its place
	}{
		"an input of the wrong type": {
			withPackages(map[string]any{"shop-web": web(map[string]any{"image": image, "replicas": "many"})}),
			[]string{`resources.shop-web.properties.replicas: replicas must be a whole number between 1 and 20; it is "many"`},
		},
		"an input that is missing": {
			withPackages(map[string]any{"shop-web": web(map[string]any{"replicas": 2})}),
			[]string{"resources.shop-web.properties.image: image is required"},
		},
		"an input that is too long": {
			withPackages(map[string]any{"shop-web": web(map[string]any{"image": "a" + strings.Repeat("b", 500)})}),
			[]string{"resources.shop-web.properties.image: image must have at most 500 characters; it has 501"},
		},
		"an input that does not exist": {
			withPackages(map[string]any{"shop-web": web(map[string]any{"image": image, "replica": 2})}),
			[]string{`resources.shop-web.properties.replica: web-service has no input "replica"; did you mean replicas?`},
		},
		"several faults at once": {
			withPackages(map[string]any{"shop-web": web(map[string]any{"replicas": 0, "port": 80})}),
			[]string{
				"resources.shop-web.properties.image: image is required",
				"resources.shop-web.properties.port: port must be a whole number between 1024 and 65535; it is 80",
				"resources.shop-web.properties.replicas: replicas must be a whole number between 1 and 20; it is 0",
			},
		},
		"a secret as plain text": {
			withPackages(map[string]any{"shop-db": resource("postgres:index:Postgres", map[string]any{"password": "hunter2"})}),
			[]string{"resources.shop-db.properties.password: password is secret: give it by secret config, as in ${password}, never as a literal"},
		},
		"a golden path that does not exist": {
			map[string]any{
				"packages":  map[string]any{"mysql": "mysql@1.0.0"},
				"resources": map[string]any{"shop-db": resource("mysql:index:MySQL", nil)},
			},
			[]string{`packages.mysql: There is no golden path "mysql"; the catalogue has `},
		},
		"a version that does not exist": {
			map[string]any{
				"packages":  map[string]any{"web-service": "web-service@9.9.9"},
				"resources": map[string]any{"shop-web": web(map[string]any{"image": image})},
			},
			[]string{"packages.web-service: Golden path web-service has no version 9.9.9; there is 1.0.0."},
		},
		"a wire to an instance that does not exist": {
			withPackages(map[string]any{"shop-web": web(map[string]any{"image": image, "secretName": "${shop-db.secretName}"})}),
			[]string{`resources.shop-web.properties.secretName: ${shop-db…} leads to nothing: there is no instance, variable or config value "shop-db"; there is password, shop-web.`},
		},
		"a wire to an output that does not exist": {
			withPackages(map[string]any{
				"shop-db":  resource("postgres:index:Postgres", map[string]any{"password": "${password}"}),
				"shop-web": web(map[string]any{"image": image, "secretName": "${shop-db.secret}"}),
			}),
			[]string{`resources.shop-web.properties.secretName: shop-db (postgres) has no output "secret"; it has `},
		},
		"a circle": {
			withPackages(map[string]any{
				"shop-a": web(map[string]any{"image": image, "secretName": "${shop-b.serviceName}"}),
				"shop-b": web(map[string]any{"image": image, "secretName": "${shop-a.serviceName}"}),
			}),
			[]string{"resources.shop-a: These refer to each other in a circle: shop-a → shop-b → shop-a. Break it at one place."},
		},
		"a Program that is too large": {
			map[string]any{"resources": map[string]any{"settings": configMap("large", strings.Repeat("x", 1<<20))}},
			[]string{"program: The Program has 1.0 MiB; at most 1.0 MiB fit. Split it into several services."},
		},
		"an instance whose name is no DNS label": {
			withPackages(map[string]any{"Shop_Web": web(map[string]any{"image": image})}),
			[]string{`resources.Shop_Web: "Shop_Web" is no DNS label: use at most 40 lower-case letters, digits and -, beginning with a letter. Objects in the cluster are named after it.`},
		},
		"no resources at all": {
			map[string]any{"resources": map[string]any{}},
			[]string{"resources: The Program has no resources: add at least one golden path instance."},
		},
		"a golden path that reads files": {
			map[string]any{"resources": map[string]any{"settings": map[string]any{
				"type":       "kubernetes:core/v1:ConfigMap",
				"properties": map[string]any{"data": map[string]any{"fn::readFile": "/etc/passwd"}},
			}}},
			[]string{"resources.settings.properties.data: fn::readFile is not allowed in a Program; there is "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			service := strings.ToLower("bad-" + strings.ReplaceAll(name, " ", "-"))
			service = strings.TrimRight(service[:min(len(service), 30)], "-")

			said := p.towpath(t, "developer", changeRequest(service, test.program, "dev", "test"), "propose", "-")
			if said.code != 1 || said.out != "" {
				t.Errorf("propose ends with %d and prints %q; want 1 and nothing", said.code, said.out)
			}
			first, rest, _ := strings.Cut(strings.TrimSpace(said.err), "; ")
			if diff := cmp.Diff("towpath: The proposal is refused", first); diff != "" {
				t.Error(diff)
			}
			for _, problem := range test.want {
				if !strings.Contains(rest, "  "+problem) {
					t.Errorf("propose does not say %q; it says:\n%s", problem, said.err)
				}
			}
			p.comesToNothing(t, service, 0)

			p.kubectl(t, "developer", namedChange(service, service, test.program, "dev", "test"), "create", "-f", "-").works(t)
			cr := p.awaitEnd(t, service, v1alpha1.ChangeRefused)
			var got []string
			for i, problem := range cr.Status.Problems {
				text := problem.Path + ": " + problem.Message
				if i < len(test.want) && strings.HasPrefix(text, test.want[i]) {
					text = test.want[i]
				}
				got = append(got, text)
				if !strings.Contains(rest, problem.Path+": "+problem.Message) {
					t.Errorf("the change says %q, which propose does not:\n%s", text, said.err)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error("problems of the change:\n" + diff)
			}
			p.comesToNothing(t, service, 1)
		})
	}
}

// What the API server refuses by itself never becomes a change, and the command
// line says why.
func TestProposalsThatTheSchemaRefuses(t *testing.T) {
	p := sharedPortal(t)
	t.Parallel()
	for name, test := range map[string]struct {
		service, manifest, propose, create string
	}{
		"a service whose name is no DNS label": {
			"Bad_Service", namedChange("bad-service", "Bad_Service", settings("x", "blue"), "dev"),
			`spec.service: Invalid value: "Bad_Service"`, `spec.service: Invalid value: "Bad_Service"`,
		},
		"a service whose name is too long": {
			strings.Repeat("x", 31), namedChange("too-long", strings.Repeat("x", 31), settings("x", "blue"), "dev"),
			"spec.service: Too long: may not be more than 30 bytes", "spec.service: Too long: may not be more than 30 bytes",
		},
		"a key that stands there twice": {
			"doubled", strings.Replace(namedChange("doubled", "doubled", settings("x", "blue"), "dev"), "  service: doubled\n", "  service: doubled\n  service: doubled\n", 1),
			`the key "service" stands there twice; keep one`, "", // kubectl drops the first, before anybody sees it
		},
		"a field that does not exist": {
			"misspelt", strings.Replace(namedChange("misspelt", "misspelt", settings("x", "blue"), "dev"), "  service: misspelt\n", "  service: misspelt\n  summary: A slip.\n", 1),
			`There is no field "summary"; check its spelling and indentation`, `unknown field "spec.summary"`,
		},
		"an environment that is none": {
			"nowhere", namedChange("nowhere", "nowhere", settings("x", "blue"), "No Where"),
			`spec.environments[0].name: Invalid value: "No Where"`, `spec.environments[0].name: Invalid value: "No Where"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p.towpath(t, "developer", test.manifest, "propose", "-").refused(t, test.propose)
			if test.create != "" {
				p.kubectl(t, "developer", test.manifest, "create", "-f", "-").refused(t, test.create)
			}
			p.comesToNothing(t, test.service, 0)
		})
	}
	t.Run("an environment that does not exist", func(t *testing.T) {
		p.towpath(t, "developer", changeRequest("staged", settings("staged", "blue"), "dev", "staging"), "propose", "-").
			refused(t, `environments.staging: There is no environment "staging"; there is default, dev, prod, test.`)
		p.comesToNothing(t, "staged", 1)
	})
	t.Run("a file that is none", func(t *testing.T) {
		p.towpath(t, "developer", "", "propose", "no-such-file.yaml").refused(t, "There is no file no-such-file.yaml.")
		p.towpath(t, "developer", "a: [", "propose", "-").refused(t, "It is no YAML: ")
		p.towpath(t, "developer", "{apiVersion: v1, kind: Pod}", "propose", "-").refused(t, `It is a "v1/Pod"; only ChangeRequest, Program and Secret can be proposed.`)
	})
}

// The same proposal twice is one change.
func TestProposingTwice(t *testing.T) {
	p := sharedPortal(t)
	t.Parallel()
	manifest := proposal("twice", "blue", "dev", "test")
	name := p.propose(t, "developer", manifest)
	p.towpath(t, "developer2", manifest, "propose", "-").refused(t, "The same change is already open as "+name)
	p.comesTo(t, "twice", 1)

	p.kubectl(t, "developer2", namedChange("twice-again", "twice", settings("twice", "blue"), "dev", "test"), "create", "-f", "-").works(t)
	again := p.awaitEnd(t, "twice-again", v1alpha1.ChangeRefused)
	if !strings.Contains(again.Status.Message, "The same change is already open as "+name) {
		t.Errorf("the second change says: %s", again.Status.Message)
	}
	first := p.awaitPhases(t, name, map[string]v1alpha1.StackPhase{"dev": v1alpha1.StackApplied, "test": v1alpha1.StackInReview})

	t.Run("another proposal takes the place of one that waits", func(t *testing.T) {
		newer := p.propose(t, "developer2", proposal("twice", "green", "dev", "test"))
		old := p.awaitEnd(t, first.Name, v1alpha1.ChangeSuperseded)
		if diff := cmp.Diff(newer+" by developer2 took its place.", old.Status.Message); diff != "" {
			t.Error(diff)
		}
		p.towpath(t, "approver", "", "approve", first.Name, "test").refused(t, "The change has ended: Superseded.")
		p.awaitPhases(t, newer, map[string]v1alpha1.StackPhase{"test": v1alpha1.StackInReview})
		p.approve(t, "approver", newer, "test")
		p.awaitEnd(t, newer, v1alpha1.ChangeApplied)
	})
}

// comesToNothing fails the test if anything but records of refused changes has
// come of a service.
func (p *portal) comesToNothing(t *testing.T, service string, refused int) {
	t.Helper()
	p.comesTo(t, service, refused)
	for _, list := range []client.ObjectList{&pulumiv1.ProgramList{}, &pulumiv1.StackList{}, &v1alpha1.RunList{}, &appsv1.ControllerRevisionList{}} {
		for _, name := range p.names(t, list, team) {
			if name == service || strings.HasPrefix(name, service+"-") {
				t.Errorf("%s of %s is in %T", name, service, list)
			}
		}
	}
}

func (p *portal) comesTo(t *testing.T, service string, changes int) {
	t.Helper()
	var all v1alpha1.ChangeRequestList
	if err := p.admin.List(t.Context(), &all, client.InNamespace(team)); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, cr := range all.Items {
		if cr.Spec.Service == service {
			n++
		}
	}
	if n != changes {
		t.Errorf("there are %d changes of %s; want %d", n, service, changes)
	}
}

// A Secret that is not there yet is waited for.
func TestMissingSecret(t *testing.T) {
	p := sharedPortal(t)
	t.Parallel()
	program := settings("keyed", "${colour}")
	program["configuration"] = map[string]any{"colour": map[string]any{"type": "String"}}
	spec := changeSpec("keyed", program, "dev")
	spec["environments"] = []any{map[string]any{"name": "dev", "secretsRef": map[string]any{"colour": map[string]any{"name": "keyed-colour", "key": "value"}}}}
	name := p.propose(t, "developer", manifest(map[string]any{"apiVersion": "towpath.dev/v1alpha1", "kind": "ChangeRequest", "spec": spec}))
	cr := p.awaitChange(t, name, "waiting for a retry", func(cr v1alpha1.ChangeRequest) bool {
		waiting := in(cr, "dev").Waiting
		return waiting != nil && waiting.Kind == v1alpha1.WaitRetry
	})
	if message := in(cr, "dev").Waiting.Message; !strings.Contains(message, "Secret shop/keyed-colour does not exist; create it.") {
		t.Errorf("it waits with: %s", message)
	}
	p.kubectl(t, "developer", "", "create", "secret", "generic", "keyed-colour", "--from-literal=value=blue").works(t)
	p.awaitEnd(t, name, v1alpha1.ChangeApplied)
	if !slices.Contains(p.names(t, &corev1.ConfigMapList{}, "shop-dev"), "keyed") {
		t.Error("there is no ConfigMap of it")
	}
}
