package gallery

import (
	"time"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
)

func catalogue(f frame) page.CatalogueView {
	return page.CatalogueView{
		Shell: f.at("Golden paths"), Search: page.SearchView{Action: "/catalogue"}, Total: 3,
		Tags: []page.FilterView{{Text: "All", URL: "/catalogue", Current: true}, {Text: "data", URL: "/catalogue?tag=data"}, {Text: "web", URL: "/catalogue?tag=web"}},
		Cards: []page.CardView{
			{Name: "web-service", Title: "Web service", URL: "/golden-paths/web-service", Summary: "A service that answers HTTP, with probes, scaling and safe defaults.", Owner: "platform", Version: "1.0.0", Tags: []string{"web"}, UsedBy: 14, ComposeURL: "/compose?path=web-service"},
			{Name: "postgres", Title: "PostgreSQL", URL: "/golden-paths/postgres", Summary: "A PostgreSQL database with storage of its own and credentials in a Secret.", Owner: "data", Version: "1.0.0", Tags: []string{"data", "stateful"}, UsedBy: 1, ComposeURL: "/compose?path=postgres"},
			{Name: "tenant-namespace", Title: "Tenant namespace", URL: "/golden-paths/tenant-namespace", Summary: "A namespace with quotas and network rules.", Owner: "platform", Version: "0.9.0", Stage: tag(components.Warn, "Deprecated")},
		},
	}
}

func goldenPath(f frame) page.GoldenPathView {
	return page.GoldenPathView{
		Shell: f.under("Golden paths", "Web service"), CatalogueURL: "/catalogue", Name: "web-service", Title: "Web service",
		Summary: "A service that answers HTTP, with probes, scaling and safe defaults.", Owner: "platform", Version: "1.0.0",
		Stage: tag(components.Good, "Published"), Notice: "A newer version exists: 1.1.0.", Token: "web-service:index:WebService", Digest: "sha256:1f2e3d4c5b6a",
		Readme: readme(), ComposeURL: "/compose?path=web-service",
		Inputs: []page.InputView{
			{Name: "image", Type: "string", Required: true, Help: "The image to run.", Rule: "With a fixed version or digest."},
			{Name: "replicas", Type: "integer", Default: "2", Help: "How many pods to run.", Rule: "1 to 20."},
			{Name: "token", Type: "string", Secret: true, Help: "A token for the payment provider."},
		},
		Outputs: []page.OutputTypeView{{Name: "url", Type: "string", Help: "Where it answers inside the cluster."}, {Name: "token", Type: "string", Secret: true, Help: "As it was given."}},
		Versions: []page.VersionView{
			{Version: "1.1.0", URL: "/golden-paths/web-service?version=1.1.0", Published: before(20 * time.Hour), UsedBy: 1, Changelog: "Pod disruption budgets."},
			{Version: "1.0.0", URL: "/golden-paths/web-service?version=1.0.0", Published: before(400 * time.Hour), UsedBy: 13, Current: true},
			{Version: "0.9.0", URL: "/golden-paths/web-service?version=0.9.0", Published: before(900 * time.Hour), Stage: tag(components.Warn, "Deprecated")},
		},
		Examples: []page.ExampleView{{Title: "With three replicas", YAML: "image: ghcr.io/acme/orders:1.0.0\nreplicas: 3\n", ComposeURL: "/compose?path=web-service&example=three"}},
		UsedBy:   []page.UseView{{Service: components.LinkView{Text: "orders", URL: "/services/shop/orders"}, Namespace: "shop", Versions: "1.0.0"}},
	}
}

func environments(f frame) page.EnvironmentsView {
	return page.EnvironmentsView{
		Shell: f.at("Environments"), Order: order(),
		Environments: []page.RulesView{
			{ID: "env-dev", Name: "dev", Title: "Development", After: "Changes come here first.", Approval: "Applies by itself when nothing is deleted or replaced. Otherwise needs 1 approval; never the author's own.", Health: "A change counts as failed here if what was applied is not healthy within 10 minutes.", Facts: []page.FactView{{Name: "Applies by itself when", Value: "plan.delete == 0 && plan.replace == 0"}, {Name: "Stack", Value: "organization/${service}/dev"}}},
			{ID: "env-test", Name: "test", Title: "Test", After: "Applied only after the same revision is applied and healthy in dev.", Approval: "Needs 1 approval; never the author's own.", You: "You may approve and reject plans here for shop."},
			{ID: "env-prod", Name: "prod", Title: "Production", After: "Applied only after the same revision is applied and healthy in test, at most 1 hour ago.", Approval: "Needs 1 approval of approvers; never the author's own."},
		},
	}
}

func checks(names ...string) []components.FieldView {
	hints := map[string]string{"dev": "Applies by itself when nothing is deleted or replaced. Otherwise needs 1 approval; never the author's own.", "test": "Needs 1 approval; never the author's own.", "prod": "Needs 1 approval; never the author's own."}
	var fields []components.FieldView
	for _, name := range names {
		fields = append(fields, components.FieldView{ID: "environment-" + name, Name: "environment", Label: name, Kind: components.Checkbox, Value: name, Checked: name != "prod", Hint: hints[name]})
	}
	return fields
}

func composeNew(f frame) page.ComposeView {
	return page.ComposeView{
		Shell: f.under("Services", "Compose a new service"), Title: "Compose a new service", Action: "/compose",
		Service:     components.FieldView{ID: "service", Name: "service", Label: "Name", Required: true, Hint: "Lower case letters, digits and “-”."},
		Namespace:   components.FieldView{ID: "namespace", Name: "namespace", Label: "Team", Required: true, Kind: components.Select, Options: []components.OptionView{{Value: "shop", Label: "shop", Selected: true}}},
		Description: components.FieldView{ID: "description", Name: "description", Label: "What is it for?", Kind: components.LongText},
		AddPath: components.FieldView{ID: "add-path", Name: "add.path", Label: "Golden path", Required: true, Kind: components.Select, Options: []components.OptionView{
			{Value: "postgres@1.0.0", Label: "PostgreSQL 1.0.0"}, {Value: "web-service@1.0.0", Label: "Web service 1.0.0"},
		}},
		Choices: []page.ChoiceView{
			{Path: "postgres", Title: "PostgreSQL", Summary: "A PostgreSQL database with persistent storage and a Secret that services connect with."},
			{Path: "web-service", Title: "Web service", Summary: "A stateless HTTP service with health checks, safe defaults and, when asked for, a public host and autoscaling."},
		},
		AddName:      components.FieldView{ID: "add-name", Name: "add.name", Label: "Its name"},
		Environments: checks("dev", "test", "prod"),
		YAML:         "resources: {}\n",
	}
}

func compose(f frame) page.ComposeView {
	v := composeNew(f)
	v.Shell.Invalid = true
	v.Title = "Change orders"
	v.Fixed = true
	v.Service.Value, v.Namespace.Value = "orders", "shop"
	v.Hidden = []components.HiddenView{{Name: "base", Value: "orders-6d5f"}}
	v.Problems = problemLinks()
	v.EnvironmentsProblem = "Choose at least one environment."
	v.Changed = "Two values differ from what runs: replicas of orders-web, image of orders-web."
	v.Instances = []page.InstanceView{
		{
			ID: "instance-orders-db", Name: "orders-db", Path: components.LinkView{Text: "PostgreSQL 1.0.0", URL: "/golden-paths/postgres"}, Notice: "1.1.0 is newer. Its changes are listed on its page.",
			Fields: []components.FieldView{selectField(), secretField()},
		},
		{
			ID: "instance-orders-web", Name: "orders-web", Path: components.LinkView{Text: "Web service 1.0.0", URL: "/golden-paths/web-service"}, Problem: 1,
			Fields: []components.FieldView{imageField("A fixed version or digest is needed; “latest” can change under you."), replicasField(), wiredField(), wireableField()},
			Groups: []page.FieldGroupView{{Title: "Ingress", Fields: []components.FieldView{checkField()}}, {Title: "Advanced", Open: true, Fields: []components.FieldView{listField(), keyValueField()}}},
		},
	}
	v.Outputs = []components.FieldView{{ID: "output-orders-web-url", Name: "output", Value: "orders-web.url", Label: "orders-web → url", Kind: components.Checkbox, Checked: true}}
	v.YAML = "resources:\n  orders-db:\n    type: postgres:index:Postgres\n    properties:\n      version: \"17\"\n      password: ${dbPassword}\n  orders-web:\n    type: web-service:index:WebService\n    properties:\n      image: ghcr.io/acme/orders:latest\n      replicas: ${replicas}\n      secretName: ${orders-db.secretName}\noutputs:\n  url: ${orders-web.url}\n"
	return v
}
