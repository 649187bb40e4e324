package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// fields are what a browser would send of a form, as it stands.
func fields(t *testing.T, page reply) url.Values {
	t.Helper()
	values := url.Values{}
	page.document(t).Find("form[action='/compose']").Find("input, textarea, select").Each(func(_ int, field *goquery.Selection) {
		name := field.AttrOr("name", "")
		_, checked := field.Attr("checked")
		switch {
		case name == "" || name == "action" || field.AttrOr("type", "") == "checkbox" && !checked:
		case goquery.NodeName(field) == "textarea":
			values.Add(name, field.Text())
		case goquery.NodeName(field) == "select":
			option := field.Find("option[selected]")
			if option.Length() == 0 {
				option = field.Find("option")
			}
			values.Add(name, option.First().AttrOr("value", ""))
		default:
			values.Add(name, field.AttrOr("value", ""))
		}
	})
	return values
}

// press fills in fields of a form and presses one of its buttons.
func (b *browser) press(t *testing.T, page reply, action string, filled ...string) reply {
	t.Helper()
	values := fields(t, page)
	for i := 0; i < len(filled); i += 2 {
		values.Set(filled[i], filled[i+1])
	}
	values.Set("action", action)
	return b.post(t, "/compose", values)
}

func TestComposingAServiceWithoutScript(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	developer := p.signedIn(t, "developer")
	const secret = "hunter2-of-the-canary"

	page := developer.get(t, "/compose?path=postgres")
	if page.document(t).Find("button[value='add:web-service']").Length() != 1 {
		t.Error("there is no button that adds a web service")
	}
	page = developer.press(t, page, "add:web-service", "namespace", one.namespace, "service", "orders", "add-name", "orders-web")
	contains(t, page.text(t), "orders-web")
	page = developer.press(t, page, "submit")
	if page.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a form with gaps gets %d", page.StatusCode)
	}
	contains(t, page.text(t), "orders-web (Web service): Image is required.")
	if title := page.document(t).Find("title").Text(); !strings.HasPrefix(title, "Problem: ") {
		t.Errorf("the title of a form with problems is %q", title)
	}
	problem := page.document(t).Find("[id='input.orders-web.image']")
	if problem.AttrOr("aria-invalid", "") != "true" {
		t.Error("the field with the problem is not marked")
	}

	page = developer.press(t, page, "preview",
		"input.orders-web.image", "ghcr.io/acme/orders:1.0.0", "wire.orders-web.secretName", "postgres.secretName",
		"input.orders-web.replicas", "1", "each.orders-web.replicas.prod", "3",
		"secret.postgres.password.dev", secret, "secret.postgres.password.test", secret, "secret.postgres.password.prod", secret)
	contains(t, page.document(t).Find("#program").Text(), "${postgres.secretName}")
	if strings.Contains(page.body, secret) {
		t.Error("a page shows a secret that was typed")
	}
	answer := developer.press(t, page, "submit", "description", "The first version.")
	if answer.StatusCode != seeOther {
		t.Fatalf("it gets %d: %s", answer.StatusCode, answer.text(t))
	}
	var changes v1alpha1.ChangeRequestList
	if err := cluster.Admin(t).List(t.Context(), &changes, client.InNamespace(one.namespace)); err != nil {
		t.Fatal(err)
	}
	if len(changes.Items) != 1 || changes.Items[0].Spec.Author.Username != "developer" {
		t.Fatalf("the changes are %v", changes.Items)
	}
	for _, environment := range changes.Items[0].Spec.Environments {
		ref := environment.SecretsRef["postgresPassword"]
		var stored corev1.Secret
		if err := cluster.Admin(t).Get(t.Context(), client.ObjectKey{Namespace: one.namespace, Name: ref.Name}, &stored); err != nil {
			t.Fatal(err)
		}
		if got := string(stored.Data[ref.Key]); got != secret {
			t.Errorf("the Secret for %s holds %q", environment.Name, got)
		}
		if replicas := string(environment.Config["ordersWebReplicas"].Raw); environment.Name == "prod" && replicas != "3" {
			t.Errorf("prod has %s replicas; want 3", replicas)
		}
	}
	contains(t, developer.get(t, answer.Header.Get("Location")).text(t), "The first version.")
	again := developer.press(t, page, "submit", "description", "The same again.")
	if again.StatusCode != http.StatusConflict {
		t.Errorf("the same change again gets %d", again.StatusCode)
	}
	contains(t, again.text(t), "The same change is open already")
}

func TestTwoPeopleChangeAServiceAtOnce(t *testing.T) {
	t.Parallel()
	p, one := startPortal(t), newTeam(t)
	one.service(t)
	one.change(t, p, "other", "developer") // by now the cache has the service too
	developer := p.signedIn(t, "developer")
	page := developer.get(t, "/compose?namespace="+one.namespace+"&service=orders")
	contains(t, page.text(t), "Change orders")

	stored := stored(t, one)
	stored.Program.Variables = nil
	stored.Program.Outputs["other"] = text("x")
	if err := cluster.Controller(t).Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	const image = "ghcr.io/acme/orders:2.0.0"
	answer := developer.press(t, page, "submit", "input.orders-web.image", image)
	if answer.StatusCode != http.StatusConflict {
		t.Fatalf("it gets %d: %s", answer.StatusCode, answer.text(t))
	}
	contains(t, answer.text(t), "Somebody has changed this service")
	if got := fields(t, answer).Get("input.orders-web.image"); got != image {
		t.Errorf("the form has lost what was typed: %q", got)
	}
	if answer := developer.press(t, answer, "submit"); answer.StatusCode != seeOther {
		t.Errorf("knowing that, it gets %d: %s", answer.StatusCode, answer.text(t))
	}
}
