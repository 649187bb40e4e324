package browser

import (
	"slices"

	"github.com/playwright-community/playwright-go"
)

// composes fills in the form for a new service: a database and a web service wired
// together, more replicas in production. It stops before the form is sent.
func (v *visitor) composes(service string) {
	v.t.Helper()
	v.press(v.link("Compose a service").First())
	v.fill(v.page.GetByLabel("Name of the service"), service)
	v.fill(v.page.GetByLabel("What is the change for?"), "First version of "+service+".")
	v.adds("PostgreSQL", service+"-db")
	v.adds("Web service", service+"-web")

	db := v.instance(service + "-db")
	for _, environment := range []string{"dev", "test", "prod"} {
		v.fill(db.GetByLabel(environment, playwright.LocatorGetByLabelOptions{Exact: playwright.Bool(true)}).First(), "a password for "+environment)
	}
	web := v.instance(service + "-web")
	v.fill(v.image(web), "ghcr.io/acme/orders:1.0.0")
	v.pick(web.GetByLabel("Output for Secret with environment variables"), service+"-db → secretName")
	v.press(exactly(web, "Scale"))
	v.press(says(web, "Per environment: Replicas").First())
	v.fill(v.replicas(web, "prod"), "3")
}

// replicas is the field for the number of replicas in an environment. Other fields
// have the same label, in groups of their own.
func (v *visitor) replicas(web playwright.Locator, environment string) playwright.Locator {
	group := web.GetByRole("group").Filter(playwright.LocatorFilterOptions{HasText: "Per environment: Replicas", HasNotText: "Replicas at most"}).Last()
	return group.GetByLabel(environment, playwright.LocatorGetByLabelOptions{Exact: playwright.Bool(true)})
}

// image is the field for a web service's image. Its label is also in that of the
// list of outputs to take the value from.
func (v *visitor) image(web playwright.Locator) playwright.Locator {
	return web.GetByRole("textbox", playwright.LocatorGetByRoleOptions{Name: "Image", Exact: playwright.Bool(true)})
}

// adds adds an instance of a golden path to the form.
func (v *visitor) adds(path, name string) {
	v.t.Helper()
	v.fill(v.page.GetByLabel("Its name"), name)
	v.press(v.button("Add " + path))
	v.sees(v.instance(name))
}

// instance is the part of the form for one instance.
func (v *visitor) instance(name string) playwright.Locator {
	return v.page.GetByRole("group", playwright.PageGetByRoleOptions{Name: name, Exact: playwright.Bool(true)})
}

// sketches fills in the form for a web service alone, for some environments.
func (v *visitor) sketches(service string, environments ...string) {
	v.t.Helper()
	v.open("/compose")
	v.fill(v.page.GetByLabel("Name of the service"), service)
	v.fill(v.page.GetByLabel("What is the change for?"), "First version of "+service+".")
	v.adds("Web service", service)
	v.fill(v.image(v.instance(service)), "ghcr.io/acme/orders:1.0.0")
	chosen := v.page.GetByRole("group", playwright.PageGetByRoleOptions{Name: "Environments", Exact: playwright.Bool(true)})
	for _, environment := range []string{"dev", "test", "prod"} {
		v.must(chosen.GetByRole("checkbox", playwright.LocatorGetByRoleOptions{Name: environment}).SetChecked(slices.Contains(environments, environment)))
	}
}
