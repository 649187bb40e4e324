package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Program is an inline Pulumi YAML program. The object's name is the Pulumi
// project's.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=pulumi
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.artifact.url`
type Program struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Program is the content; there is no spec.
	// +optional
	Program ProgramSpec `json:"program,omitempty"`
	// +optional
	Status ProgramStatus `json:"status,omitempty"`
}

// ProgramList is a list of Programs.
//
// +kubebuilder:object:root=true
type ProgramList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Program `json:"items"`
}

// ProgramSpec is the part of a Pulumi YAML project file that a Program holds.
type ProgramSpec struct {
	// Configuration declares the config keys that a Stack may set.
	// +optional
	Configuration map[string]Configuration `json:"configuration,omitempty"`
	// Resources by logical name.
	// +optional
	Resources map[string]Resource `json:"resources,omitempty"`
	// Variables are named expressions.
	// +optional
	Variables map[string]apiextensionsv1.JSON `json:"variables,omitempty"`
	// Outputs are named expressions that the stack exports.
	// +optional
	Outputs map[string]apiextensionsv1.JSON `json:"outputs,omitempty"`
	// Packages pins component packages, as in web-service: web-service@1.0.0.
	// +optional
	Packages map[string]string `json:"packages,omitempty"`
}

// ConfigType is the type of a config value.
//
// +kubebuilder:validation:Enum=String;Number;List<Number>;List<String>
type ConfigType string

// Configuration declares a config key.
type Configuration struct {
	// +optional
	Type ConfigType `json:"type,omitempty"`
	// +optional
	Default *apiextensionsv1.JSON `json:"default,omitempty"`
}

// Resource is one resource of a Program.
type Resource struct {
	// Type is the Pulumi type token.
	// +kubebuilder:validation:MinLength=1
	Type string `json:"type"`
	// +optional
	Properties map[string]apiextensionsv1.JSON `json:"properties,omitempty"`
	// +optional
	Options *ResourceOptions `json:"options,omitempty"`
	// +optional
	Get *Getter `json:"get,omitempty"`
}

// ResourceOptions are the resource options that Pulumi YAML knows.
type ResourceOptions struct {
	// +optional
	AdditionalSecretOutputs []string `json:"additionalSecretOutputs,omitempty"`
	// +optional
	Aliases []string `json:"aliases,omitempty"`
	// +optional
	CustomTimeouts *CustomTimeouts `json:"customTimeouts,omitempty"`
	// +optional
	DeleteBeforeReplace bool `json:"deleteBeforeReplace,omitempty"`
	// +optional
	DependsOn []apiextensionsv1.JSON `json:"dependsOn,omitempty"`
	// +optional
	IgnoreChanges []string `json:"ignoreChanges,omitempty"`
	// +optional
	Import string `json:"import,omitempty"`
	// +optional
	Parent *apiextensionsv1.JSON `json:"parent,omitempty"`
	// +optional
	Protect bool `json:"protect,omitempty"`
	// +optional
	Provider *apiextensionsv1.JSON `json:"provider,omitempty"`
	// +optional
	Providers map[string]apiextensionsv1.JSON `json:"providers,omitempty"`
	// +optional
	Version string `json:"version,omitempty"`
}

// CustomTimeouts bound the engine's operations on a resource, as in 5m.
type CustomTimeouts struct {
	// +optional
	Create string `json:"create,omitempty"`
	// +optional
	Delete string `json:"delete,omitempty"`
	// +optional
	Update string `json:"update,omitempty"`
}

// Getter reads an existing resource instead of managing one.
type Getter struct {
	// +kubebuilder:validation:MinLength=1
	ID string `json:"id"`
	// +optional
	State map[string]apiextensionsv1.JSON `json:"state,omitempty"`
}

// ProgramStatus says where the Program's content can be fetched.
type ProgramStatus struct {
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	Artifact *Artifact `json:"artifact,omitempty"`
}

// Artifact is a fetchable copy of a source.
type Artifact struct {
	Path     string `json:"path"`
	URL      string `json:"url"`
	Revision string `json:"revision"`
	// +optional
	Digest         string      `json:"digest,omitempty"`
	LastUpdateTime metav1.Time `json:"lastUpdateTime,omitempty"`
	// +optional
	Size *int64 `json:"size,omitempty"`
}
