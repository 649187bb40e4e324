package change

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func TestKStatus(t *testing.T) {
	namespace := cluster.Team(t)
	labels := map[string]string{"app": "a"}
	deployment := func(name string) *appsv1.Deployment {
		return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}},
			},
		}}
	}
	admin := cluster.Admin(t)
	waiting, stuck := deployment("waiting"), deployment("stuck")
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "settings"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	if err := admin.Create(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	for _, d := range []*appsv1.Deployment{waiting, stuck} {
		if err := admin.Create(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	stuck.Status = appsv1.DeploymentStatus{ObservedGeneration: stuck.Generation, Conditions: []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded",
	}}}
	if err := admin.Status().Update(t.Context(), stuck); err != nil {
		t.Fatal(err)
	}
	ref := func(apiVersion, kind, name string) v1alpha1.ObjectReference {
		return v1alpha1.ObjectReference{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
	}
	healthy := ref("v1", "Service", "settings")
	for name, test := range map[string]struct {
		objects []v1alpha1.ObjectReference
		want    Health
		says    string
	}{
		"nothing to look at":                 {nil, Healthy, ""},
		"an object without a status":         {[]v1alpha1.ObjectReference{healthy}, Healthy, ""},
		"an object that is on its way":       {[]v1alpha1.ObjectReference{healthy, ref("apps/v1", "Deployment", "waiting")}, Progressing, "Deployment " + namespace + "/waiting: "},
		"an object that failed":              {[]v1alpha1.ObjectReference{ref("apps/v1", "Deployment", "stuck")}, Degraded, "Deployment " + namespace + "/stuck: "},
		"the worst of several is told":       {[]v1alpha1.ObjectReference{ref("apps/v1", "Deployment", "waiting"), ref("apps/v1", "Deployment", "stuck"), healthy}, Degraded, "Deployment " + namespace + "/stuck: "},
		"an object that is gone":             {[]v1alpha1.ObjectReference{ref("v1", "Service", "none")}, Degraded, "Service " + namespace + "/none: it is gone from the cluster."},
		"a kind that is gone":                {[]v1alpha1.ObjectReference{ref("example.com/v1", "Thing", "a")}, Degraded, "Thing " + namespace + "/a: the cluster no longer knows its kind."},
		"an object that it may not look at":  {[]v1alpha1.ObjectReference{{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "view"}}, Unknown, "ClusterRole view: the controller may not read it, so its health is unknown."},
		"unknown is worse than on its way":   {[]v1alpha1.ObjectReference{{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "view"}, ref("apps/v1", "Deployment", "waiting")}, Unknown, "ClusterRole view: "},
		"degraded is worse than not to know": {[]v1alpha1.ObjectReference{{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "view"}, ref("v1", "Service", "none")}, Degraded, "Service " + namespace + "/none: "},
	} {
		t.Run(name, func(t *testing.T) {
			got, message, err := KStatus{Reader: cluster.Controller(t)}.Check(t.Context(), test.objects)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if !strings.HasPrefix(message, test.says) || (message == "") != (test.says == "") {
				t.Errorf("it says %q, want %q", message, test.says)
			}
		})
	}
}
