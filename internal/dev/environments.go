package dev

import (
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// environments are dev, test and prod, one after the other, and the default for
// Stacks that name none.
func environments(stateDir string) []v1alpha1.Environment {
	template := v1alpha1.StackTemplate{
		// One folder per team: two teams may have services of one name.
		Backend: "file://" + stateDir + "/${namespace}",
		Config: map[string]apiextensionsv1.JSON{
			"kubernetes:namespace": {Raw: []byte(`"${namespace}-${environment}"`)},
			// Without these a new value in a ConfigMap or Secret replaces the object.
			"kubernetes:enableConfigMapMutable": {Raw: []byte(`"true"`)},
			"kubernetes:enableSecretMutable":    {Raw: []byte(`"true"`)},
		},
		EnvRefs: map[string]pulumiv1.ResourceRef{
			"PULUMI_CONFIG_PASSPHRASE": {
				Type:   pulumiv1.RefSecret,
				Secret: &pulumiv1.SecretSelector{Name: passphraseSecret, Key: passphraseKey},
			},
		},
	}
	oneApproval := v1alpha1.ApprovalRule{Required: 1}
	return []v1alpha1.Environment{
		{
			ObjectMeta: metav1.ObjectMeta{Name: "dev"},
			Spec: v1alpha1.EnvironmentSpec{
				DisplayName: "Development",
				Approval:    oneApproval,
				AutoApprove: []v1alpha1.AutoApproveRule{{
					Expression: "plan.delete == 0 && plan.replace == 0",
					Reason:     "Nothing is deleted or replaced",
				}},
				StackTemplate: template,
			},
		},
		{
			ObjectMeta: metav1.ObjectMeta{Name: "test"},
			Spec: v1alpha1.EnvironmentSpec{
				DisplayName:   "Test",
				After:         []v1alpha1.EnvironmentName{"dev"},
				Freshness:     &metav1.Duration{Duration: 24 * time.Hour},
				Approval:      oneApproval,
				StackTemplate: template,
			},
		},
		{
			ObjectMeta: metav1.ObjectMeta{Name: "prod"},
			Spec: v1alpha1.EnvironmentSpec{
				DisplayName:   "Production",
				After:         []v1alpha1.EnvironmentName{"test"},
				Freshness:     &metav1.Duration{Duration: 7 * 24 * time.Hour},
				Approval:      oneApproval,
				StackTemplate: template,
			},
		},
		{
			ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.DefaultEnvironment},
			Spec: v1alpha1.EnvironmentSpec{
				DisplayName: "No environment",
				Approval:    oneApproval,
			},
		},
	}
}
