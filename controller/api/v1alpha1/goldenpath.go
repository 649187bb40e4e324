package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GoldenPath is the identity of a vetted component: what it is for and whose.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=gp,categories=towpath
// +kubebuilder:printcolumn:name="Title",type=string,JSONPath=`.spec.title`
// +kubebuilder:printcolumn:name="Owner",type=string,JSONPath=`.spec.owner`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 40 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a golden path's name is a DNS label of at most 40 characters that begins with a letter: it is the package name in Programs"
type GoldenPath struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GoldenPathSpec `json:"spec"`
}

// GoldenPathList is a list of GoldenPaths.
//
// +kubebuilder:object:root=true
type GoldenPathList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GoldenPath `json:"items"`
}

// GoldenPathSpec describes a golden path to the people who choose one.
type GoldenPathSpec struct {
	// Title is its name for people.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	Title string `json:"title"`
	// Summary says in a sentence what it gives.
	// +optional
	// +kubebuilder:validation:MaxLength=300
	Summary string `json:"summary,omitempty"`
	// Owner is the team that answers for it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	Owner string `json:"owner"`
	// Tags group golden paths in the catalogue.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=40
	Tags []string `json:"tags,omitempty"`
}

// Stage is where a GoldenPathVersion stands in its life. It only moves forward.
//
// +kubebuilder:validation:Enum=Draft;Published;Deprecated;Retired
type Stage string

// The stages, in order.
const (
	StageDraft      Stage = "Draft"      // may still change; not for Programs
	StagePublished  Stage = "Published"  // immutable; for use
	StageDeprecated Stage = "Deprecated" // usable, with a warning
	StageRetired    Stage = "Retired"    // no new change may use it
)

// GoldenPathVersion is the content of one version of a golden path. Once it has
// left Draft its content never changes.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=gpv,categories=towpath
// +kubebuilder:printcolumn:name="Golden path",type=string,JSONPath=`.spec.goldenPath`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.spec.version`
// +kubebuilder:printcolumn:name="Stage",type=string,JSONPath=`.spec.stage`
// +kubebuilder:printcolumn:name="Digest",type=string,priority=1,JSONPath=`.spec.digest`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name == self.spec.goldenPath + '-' + self.spec.version",message="a version is named <golden path>-<version>, so that it exists once"
type GoldenPathVersion struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GoldenPathVersionSpec `json:"spec"`
}

// GoldenPathVersionList is a list of GoldenPathVersions.
//
// +kubebuilder:object:root=true
type GoldenPathVersionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GoldenPathVersion `json:"items"`
}

// GoldenPathVersionSpec is the component itself and its typed surface.
type GoldenPathVersionSpec struct {
	// GoldenPath is the name of the GoldenPath.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	GoldenPath string `json:"goldenPath"`
	// Version is a semantic version without build metadata.
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9a-z]+(\.[0-9a-z]+)*)?$`
	Version string `json:"version"`
	// Stage is where this version stands in its life.
	// +kubebuilder:default=Draft
	Stage Stage `json:"stage"`
	// Token is the Pulumi type token of the component, as Programs use it:
	// <golden path>:index:<Component>.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Token string `json:"token"`
	// Component is the text of PulumiPlugin.yaml.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=400000
	Component string `json:"component"`
	// Readme is Markdown for the catalogue.
	// +optional
	// +kubebuilder:validation:MaxLength=100000
	Readme string `json:"readme,omitempty"`
	// Changelog says what is new since the version before.
	// +optional
	// +kubebuilder:validation:MaxLength=20000
	Changelog string `json:"changelog,omitempty"`
	// Examples are inputs that show it in use.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	Examples []GoldenPathExample `json:"examples,omitempty"`
	// Digest is sha256:<hex> over everything that decides what the component
	// does: token, component and inputs.
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	Digest string `json:"digest"`
	// Inputs are what a developer fills in, in the order of the form.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Inputs []GoldenPathInput `json:"inputs,omitempty"`
	// Outputs are what other instances may be wired to.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Outputs []GoldenPathOutput `json:"outputs,omitempty"`
}

// GoldenPathExample is a set of inputs with a title.
type GoldenPathExample struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	Name string `json:"name"`
	// +optional
	// +kubebuilder:validation:MaxLength=200
	Title string `json:"title,omitempty"`
	// Inputs by name.
	Inputs map[string]apiextensionsv1.JSON `json:"inputs"`
}

// ValueType is the type of an input or output.
//
// +kubebuilder:validation:Enum=string;integer;number;boolean;array;object
type ValueType string

// The value types.
const (
	TypeString  ValueType = "string"
	TypeInteger ValueType = "integer"
	TypeNumber  ValueType = "number"
	TypeBoolean ValueType = "boolean"
	TypeArray   ValueType = "array"
	TypeObject  ValueType = "object"
)

// GoldenPathInput is one input: its type, its bounds and how a form asks for it.
type GoldenPathInput struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	Name string    `json:"name"`
	Type ValueType `json:"type"`
	// Items is the type of the elements of an array, or of the values of an
	// object.
	// +optional
	Items ValueType `json:"items,omitempty"`
	// +optional
	Required bool `json:"required,omitempty"`
	// Secret inputs take a value only from secret config, never a literal.
	// +optional
	Secret bool `json:"secret,omitempty"`
	// +optional
	Default *apiextensionsv1.JSON `json:"default,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Label string `json:"label,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxLength=500
	Help string `json:"help,omitempty"`
	// Group is the heading that the form shows it under.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Group string `json:"group,omitempty"`
	// Pattern is an RE2 expression that the whole string must match.
	// +optional
	// +kubebuilder:validation:MaxLength=500
	Pattern string `json:"pattern,omitempty"`
	// PatternHelp says in words what Pattern asks for.
	// +optional
	// +kubebuilder:validation:MaxLength=200
	PatternHelp string `json:"patternHelp,omitempty"`
	// MaxLength bounds a string, in characters.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxLength *int64 `json:"maxLength,omitempty"`
	// +optional
	Minimum *int64 `json:"minimum,omitempty"`
	// +optional
	Maximum *int64 `json:"maximum,omitempty"`
	// Options are the only strings allowed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=200
	Options []string `json:"options,omitempty"`
}

// GoldenPathOutput is one output.
type GoldenPathOutput struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	Name string    `json:"name"`
	Type ValueType `json:"type"`
	// +optional
	// +kubebuilder:validation:MaxLength=500
	Help string `json:"help,omitempty"`
	// +optional
	Secret bool `json:"secret,omitempty"`
}
