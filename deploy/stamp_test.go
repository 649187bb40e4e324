package deploy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/deploy"
)

func TestWhoSignsIsWhoAuthenticated(t *testing.T) {
	forgedAuthor := aChange + "\n  author: {username: ben, groups: [approver]}"
	forgedReviewer := `
apiVersion: towpath.dev/v1alpha1
kind: Review
metadata: {name: forged}
spec:
  changeRequest: orders-1
  environment: dev
  planDigest: "` + digest + `"
  decision: Comment
  comment: So do I.
  reviewer: {username: ben, groups: [approver]}`
	asAna := rest.ImpersonationConfig{UserName: "ana", Groups: []string{"developer"}}
	portal := person(t, "portal", "system:masters")
	portal.Impersonate = asAna

	for name, test := range map[string]struct {
		as     dynamic.Interface
		kind   schema.GroupVersionResource
		object string
		field  string
		want   string
	}{
		"the author of a change is its creator":                {developer(t), changeRequests, aChange, "author", "ana"},
		"a forged author is overwritten":                       {developer(t), changeRequests, forgedAuthor, "author", "ana"},
		"a forged author of an administrator is overwritten":   {admin(t), changeRequests, forgedAuthor, "author", "admin"},
		"the controller proposes on behalf of somebody":        {controller(t), changeRequests, forgedAuthor, "author", "ben"},
		"an impersonated author is the impersonated user":      {client(t, portal), changeRequests, aChange, "author", "ana"},
		"a forged reviewer is overwritten":                     {developer(t), reviews, forgedReviewer, "reviewer", "ana"},
		"a forged reviewer of an administrator is overwritten": {admin(t), reviews, forgedReviewer, "reviewer", "admin"},
		"an impersonated reviewer is the impersonated user":    {client(t, portal), reviews, forgedReviewer, "reviewer", "ana"},
	} {
		t.Run(name, func(t *testing.T) {
			created := create(t, test.as, test.kind, team(t), test.object)
			if diff := cmp.Diff(test.want, field(t, created, "spec", test.field, "username")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGroupsAreStampedWithTheName(t *testing.T) {
	created := create(t, developer(t), changeRequests, team(t), aChange)
	groups, _, err := unstructured.NestedStringSlice(created.Object, "spec", "author", "groups")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"developer", "system:authenticated"}, groups); diff != "" {
		t.Error(diff)
	}
}

func TestTheControllerCannotReviewForSomebody(t *testing.T) {
	namespace := team(t)
	bind(t, namespace, "cluster-admin", "{kind: User, apiGroup: rbac.authorization.k8s.io, name: '"+deploy.ControllerUser+"'}")
	awaitRight(t, controller(t), namespace, "create", "towpath.dev", "reviews")
	object := parse(t, aReview)
	if err := unstructured.SetNestedField(object.Object, "ben", "spec", "reviewer", "username"); err != nil {
		t.Fatal(err)
	}
	created, err := controller(t).Resource(reviews).Namespace(namespace).Create(t.Context(), object, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(deploy.ControllerUser, field(t, created, "spec", "reviewer", "username")); diff != "" {
		t.Error(diff)
	}
}

func TestLastEditor(t *testing.T) {
	const (
		forge  = `{"metadata":{"annotations":{"towpath.dev/last-editor":"ben"}}}`
		remove = `{"metadata":{"annotations":null}}`
		label  = `{"metadata":{"labels":{"team":"a"}}}`
		edit   = `{"spec":{"stack":"organization/orders/other"},"program":{"outputs":{"a":"b"}}}`
	)
	for name, test := range map[string]struct {
		creator, editor func(testing.TB) dynamic.Interface
		patch           string
		subresource     []string
		want            string
	}{
		"the creator is the first":                    {developer, nil, "", nil, "ana"},
		"an edit of the content names its editor":     {developer, admin, edit, nil, "admin"},
		"a label changes nothing":                     {developer, admin, label, nil, "ana"},
		"a forged name keeps the old one":             {developer, admin, forge, nil, "ana"},
		"a removed name comes back":                   {developer, admin, remove, nil, "ana"},
		"the controller may write for somebody":       {developer, controller, forge, nil, "ben"},
		"without a name before, none can be invented": {controller, admin, forge, nil, ""},
		"without annotations before, an edit adds it": {controller, admin, edit, nil, "admin"},
		"a status update is no edit":                  {developer, controller, `{"status":{"observedGeneration":1}}`, []string{"status"}, "ana"},
	} {
		for kind, object := range map[schema.GroupVersionResource]string{programs: aProgram, stacks: aStack} {
			t.Run(name+", "+kind.Resource, func(t *testing.T) {
				namespace := team(t)
				got := create(t, test.creator(t), kind, namespace, object)
				if test.editor != nil {
					var err error
					got, err = test.editor(t).Resource(kind).Namespace(namespace).Patch(t.Context(), got.GetName(),
						types.MergePatchType, []byte(test.patch), metav1.PatchOptions{}, test.subresource...)
					if err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(test.want, got.GetAnnotations()[v1alpha1.LastEditorAnnotation]); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}
