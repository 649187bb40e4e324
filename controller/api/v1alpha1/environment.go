package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
)

// Environment is a place that services run in (dev, test, prod) and the rules
// that a change meets on its way there.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=env,categories=towpath
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="After",type=string,JSONPath=`.spec.after`
// +kubebuilder:printcolumn:name="Approvals",type=integer,JSONPath=`.spec.approval.required`
// +kubebuilder:printcolumn:name="Freshness",type=string,JSONPath=`.spec.freshness`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 20 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="an environment's name is a DNS label of at most 20 characters that begins with a letter: it becomes part of Stack names and namespaces"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.after) || self.spec.after.all(e, e != self.metadata.name)",message="an environment cannot come after itself"
type Environment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec EnvironmentSpec `json:"spec"`
}

// EnvironmentList is a list of Environments.
//
// +kubebuilder:object:root=true
type EnvironmentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Environment `json:"items"`
}

// EnvironmentSpec is an environment's rules.
type EnvironmentSpec struct {
	// DisplayName is what people read; the object's name when empty.
	// +optional
	// +kubebuilder:validation:MaxLength=60
	DisplayName string `json:"displayName,omitempty"`

	// After lists the environments that must have applied a revision, and be
	// healthy with it, before this one applies it.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=10
	After []EnvironmentName `json:"after,omitempty"`

	// Freshness is how old an upstream success may be when this environment
	// applies. Absent: any age.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(\.[0-9]{1,9})?h|[0-9]{1,7}(\.[0-9]{1,9})?(ms|s|m)){1,4}$`
	Freshness *metav1.Duration `json:"freshness,omitempty"`

	// Approval says who must sign a plan before it is applied.
	// +optional
	// +kubebuilder:default={}
	Approval ApprovalRule `json:"approval,omitempty"`

	// AutoApprove lists plans that need no signature. The first rule that
	// matches is recorded with its reason. An empty plan always approves itself.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	AutoApprove []AutoApproveRule `json:"autoApprove,omitempty"`

	// Health bounds the wait for what was applied to become healthy.
	// +optional
	// +kubebuilder:default={}
	Health HealthRule `json:"health,omitempty"`

	// StackTemplate is what a new service's Stack in this environment is made
	// from. ${namespace}, ${service} and ${environment} are replaced in every
	// string.
	// +optional
	// +kubebuilder:default={}
	StackTemplate StackTemplate `json:"stackTemplate,omitempty"`
}

// EnvironmentName is the name of an Environment.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
type EnvironmentName string

// ApprovalRule says how many people must approve, and who may not.
type ApprovalRule struct {
	// Required is the number of approvals from different people. The author of a
	// change never counts. A Reject is final for the plan it names.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Required int32 `json:"required,omitempty"`

	// Groups narrows the approvers to members of any of these groups. Empty:
	// whoever holds the verb review on this environment.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=256
	Groups []string `json:"groups,omitempty"`

	// ExpiresAfter voids an approval that was not used in this time. Absent:
	// approvals hold until an input changes.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(\.[0-9]{1,9})?h|[0-9]{1,7}(\.[0-9]{1,9})?(ms|s|m)){1,4}$`
	ExpiresAfter *metav1.Duration `json:"expiresAfter,omitempty"`
}

// AutoApproveRule approves a plan that its expression is true for.
type AutoApproveRule struct {
	// Expression is CEL over `plan`: plan.create, plan.update, plan.replace,
	// plan.delete (int: how many resources) and plan.empty (bool).
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1000
	Expression string `json:"expression"`

	// Reason is the sentence recorded in place of a signature.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Reason string `json:"reason"`
}

// HealthRule bounds the wait for health after an apply.
type HealthRule struct {
	// Timeout is how long what was applied may take to become healthy before the
	// change counts as failed here.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(\.[0-9]{1,9})?h|[0-9]{1,7}(\.[0-9]{1,9})?(ms|s|m)){1,4}$`
	Timeout *metav1.Duration `json:"timeout,omitempty"`
}

// StackTemplate is the part of a new Stack that the environment decides.
type StackTemplate struct {
	// Backend is the URL of the Pulumi state backend.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Backend string `json:"backend,omitempty"`

	// Stack is the Pulumi stack.
	// +optional
	// +kubebuilder:default="organization/${service}/${environment}"
	// +kubebuilder:validation:MaxLength=300
	Stack string `json:"stack,omitempty"`

	// SecretsProvider encrypts secrets in the state; passphrase when empty, with
	// PULUMI_CONFIG_PASSPHRASE from envRefs.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	SecretsProvider string `json:"secretsProvider,omitempty"`

	// ServiceAccountName is the identity that applies, in the Stack's namespace.
	// +optional
	// +kubebuilder:default="deploy-${environment}"
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// PreviewServiceAccountName is the identity that previews, in the Stack's
	// namespace. Admission refuses it everything but dry runs.
	// +optional
	// +kubebuilder:default="preview-${environment}"
	// +kubebuilder:validation:MaxLength=253
	PreviewServiceAccountName string `json:"previewServiceAccountName,omitempty"`

	// Config is Pulumi config that every Stack here starts with.
	// +optional
	// +kubebuilder:validation:MaxProperties=100
	Config map[string]apiextensionsv1.JSON `json:"config,omitempty"`

	// EnvRefs are environment variables of the engine, as in Stack.spec.envRefs.
	// +optional
	// +kubebuilder:validation:MaxProperties=100
	EnvRefs map[string]pulumiv1.ResourceRef `json:"envRefs,omitempty"`
}
