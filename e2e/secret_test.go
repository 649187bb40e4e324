package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// passwords are those of docs/examples/orders.yaml.
var passwords = []string{"only-for-development", "only-for-testing", "change-me-in-production"}

// forms are a secret's value as it may come to light.
func forms(secret string) []string {
	var all []string
	for pad := range 3 {
		// Inside a longer text, base64 shows a value in one of three ways, whole
		// but for its edges.
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", pad) + secret))
		all = append(all, encoded[(pad*8+5)/6:len(encoded)-1])
	}
	return append(all, secret, hex.EncodeToString([]byte(secret)), url.QueryEscape(secret))
}

// checkSecrets looks for the example's passwords wherever people and programs
// can read: all objects but Secrets, all logs, plans and folders of runs.
func (p *portal) checkSecrets(t *testing.T) {
	places := p.objects(t)
	for _, folder := range []string{"logs", "controller", "controlplane/logs"} {
		read := 0
		err := filepath.WalkDir(filepath.Join(p.Dir, folder), func(path string, entry fs.DirEntry, err error) error {
			if os.IsNotExist(err) || err == nil && !entry.Type().IsRegular() {
				return nil // a run's folder goes when the run ends
			}
			if err != nil {
				return err
			}
			text, err := os.ReadFile(path)
			if os.IsNotExist(err) {
				return nil
			}
			places[path], read = text, read+1
			return err
		})
		if err != nil || read == 0 {
			t.Fatalf("read %d files in %s: %v", read, folder, err)
		}
	}
	for place, text := range places {
		for _, password := range passwords {
			for _, form := range forms(password) {
				if bytes.Contains(text, []byte(form)) {
					t.Errorf("%s shows the password %q as %q", place, password, form)
				}
			}
		}
	}
}

// objects returns every object of the cluster but Secrets as JSON.
func (p *portal) objects(t *testing.T) map[string][]byte {
	t.Helper()
	config, err := p.Admin()
	if err != nil {
		t.Fatal(err)
	}
	discover, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := discover.ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]byte{}
	kinds := map[string]bool{}
	for _, list := range lists {
		for _, resource := range list.APIResources {
			if resource.Kind == "Secret" || !slices.Contains(resource.Verbs, "list") {
				continue
			}
			objects := &unstructured.UnstructuredList{}
			objects.SetAPIVersion(list.GroupVersion)
			objects.SetKind(resource.Kind + "List")
			if err := p.admin.List(t.Context(), objects, &client.ListOptions{}); err != nil {
				t.Fatalf("list %s: %v", resource.Kind, err)
			}
			for _, object := range objects.Items {
				text, err := object.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				kinds[resource.Kind] = true
				found[resource.Kind+" "+object.GetNamespace()+"/"+object.GetName()] = text
			}
		}
	}
	for _, kind := range []string{"Run", "Stack", "Program", "ChangeRequest", "ControllerRevision", "Event"} {
		if !kinds[kind] {
			t.Errorf("there is no %s to look into", kind)
		}
	}
	return found
}

// The search for secrets must find them wherever they stand in a longer text.
func TestFormsOfASecret(t *testing.T) {
	for _, password := range passwords {
		for _, around := range []string{"", "a", "ab", "abc"} {
			plain := around + password + around
			for name, text := range map[string]string{
				"plain":  plain,
				"base64": base64.StdEncoding.EncodeToString([]byte(plain)),
				"hex":    hex.EncodeToString([]byte(plain)),
				"query":  url.QueryEscape(plain),
			} {
				if !slices.ContainsFunc(forms(password), func(form string) bool { return strings.Contains(text, form) }) {
					t.Errorf("%s of %q is not found in %q", name, password, text)
				}
			}
		}
	}
}
