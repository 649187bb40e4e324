package program

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/internal/fault"
)

const (
	aChange = `apiVersion: towpath.dev/v1alpha1
kind: ChangeRequest
metadata: {name: orders-1, namespace: shop}
spec:
  service: orders
  program: {outputs: {a: b}}
  environments: [{name: dev}]
`
	aProgram = `apiVersion: pulumi.com/v1
kind: Program
metadata: {name: orders, namespace: shop}
program: {outputs: {a: b}}
`
	aSecret = `apiVersion: v1
kind: Secret
metadata: {name: orders}
stringData: {token: t}
`
)

func TestDecode(t *testing.T) {
	kind := metav1.TypeMeta{APIVersion: "towpath.dev/v1alpha1", Kind: "ChangeRequest"}
	content := read(t, `outputs: {a: b}`)
	change := v1alpha1.ChangeRequest{
		TypeMeta: kind, ObjectMeta: metav1.ObjectMeta{Name: "orders-1", Namespace: "shop"},
		Spec: v1alpha1.ChangeRequestSpec{Service: "orders", Program: content, Environments: []v1alpha1.EnvironmentProposal{{Name: "dev"}}},
	}
	bare := v1alpha1.ChangeRequest{
		TypeMeta: kind, ObjectMeta: metav1.ObjectMeta{Namespace: "shop"},
		Spec: v1alpha1.ChangeRequestSpec{Service: "orders", Program: content},
	}
	secret := corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Name: "orders"},
		StringData: map[string]string{"token": "t"},
	}
	for name, test := range map[string]struct {
		text string
		want Manifest
	}{
		"a change":                           {aChange, Manifest{Change: change}},
		"a bare Program becomes a change":    {aProgram, Manifest{Change: bare}},
		"Secrets come along":                 {aSecret + "---\n" + aProgram + "---\n" + aSecret, Manifest{Change: bare, Secrets: []corev1.Secret{secret, secret}}},
		"empty documents are left out":       {"---\n---\n" + aChange + "---\n\n", Manifest{Change: change}},
		"a document of comments is left out": {"# Orders, first version.\n---\n" + aChange, Manifest{Change: change}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decode([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeRefusals(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"nothing":          {"", "The file holds 0 proposals; write exactly one ChangeRequest or Program in it."},
		"Secrets alone":    {aSecret, "The file holds 0 proposals; write exactly one ChangeRequest or Program in it."},
		"two proposals":    {aChange + "---\n" + aProgram, "The file holds 2 proposals; write exactly one ChangeRequest or Program in it."},
		"another kind":     {"apiVersion: apps/v1\nkind: Deployment\n", `Document 1: It is a "apps/v1/Deployment"; only ChangeRequest, Program and Secret can be proposed.`},
		"an older version": {strings.Replace(aProgram, "com/v1", "com/v1alpha1", 1), `Document 1: It is a "pulumi.com/v1alpha1/Program"; only ChangeRequest, Program and Secret can be proposed.`},
		"no kind":          {aChange + "---\nname: x\n", `Document 2: It is a ""; only ChangeRequest, Program and Secret can be proposed.`},
		"a doubled key": {
			strings.Replace(aChange, "  service: orders\n", "  service: orders\n  service: other\n", 1),
			`Document 1: Line 6: the key "service" stands there twice; keep one.`,
		},
		"a doubled key of the document": {
			strings.Replace(aSecret, "kind: Secret\n", "kind: Secret\nkind: Secret\n", 1) + "---\n" + aChange,
			`Document 1: Line 3: the key "kind" stands there twice; keep one.`,
		},
		"a field that does not exist": {
			strings.Replace(aChange, "  service: orders\n", "  servise: orders\n", 1),
			`Document 1: There is no field "servise"; check its spelling and indentation.`,
		},
		"a field of the Program that does not exist": {
			strings.Replace(aProgram, "outputs:", "output:", 1),
			`Document 1: There is no field "output"; check its spelling and indentation.`,
		},
		"a value of the wrong type": {
			strings.Replace(aChange, "environments: [{name: dev}]", "environments: dev", 1),
			"Document 1: Spec.environments cannot be of type string.",
		},
		"a kind that is no text":        {"kind: {a: b}\n", "Document 1: Kind cannot be of type object."},
		"a text in place of a document": {"hello", "Document 1: It is no object: write apiVersion, kind and metadata."},
		"a list in place of a document": {"- a\n- b\n", "Document 1: It is no object: write apiVersion, kind and metadata."},
		"no YAML":                       {aChange + "---\na: [b\n", "Document 2: It is no YAML: Line 1: did not find expected ',' or ']'."},
		"too much":                      {strings.Repeat("# comment\n", maxManifest/10+1), "The file has 4.0 MiB; at most 4.0 MiB are read."},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode([]byte(test.text))
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("got %v, want an Invalid fault", err)
			}
			message, _ := fault.Message(err)
			if diff := cmp.Diff(test.want, message); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever a file holds, it is read or refused in words for people, and what was
// read can be checked.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{aChange, aProgram, aSecret, aSecret + "---\n" + aChange, "a: *a", "---", "\x00", "? [a]: b", "- 1"} {
		f.Add(seed)
	}
	catalogue := shelf()
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Decode([]byte(text))
		if err != nil {
			if message, ok := fault.Message(err); !ok || message == "" {
				t.Errorf("%q: %v is not for people", text, err)
			}
			return
		}
		Validate(m.Change.Spec.Program, catalogue)
		if _, err := ProjectFile(m.Change.Spec.Service, m.Change.Spec.Program); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}
