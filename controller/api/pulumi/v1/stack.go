package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Stack is a Pulumi stack kept in step with its source.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:categories=pulumi
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Stack",type=string,priority=10,JSONPath=`.spec.stack`
// +kubebuilder:printcolumn:name="Last Update",type=string,JSONPath=`.status.lastUpdate.state`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.status.lastUpdate.lastResyncTime`
// +kubebuilder:printcolumn:name="Last Commit",type=string,priority=10,JSONPath=`.status.lastUpdate.lastSuccessfulCommit`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reconciling",type=string,JSONPath=`.status.conditions[?(@.type=="Reconciling")].reason`
// +kubebuilder:printcolumn:name="Stalled",type=string,JSONPath=`.status.conditions[?(@.type=="Stalled")].reason`
// +kubebuilder:printcolumn:name="Permalink",type=string,JSONPath=`.status.lastUpdate.permalink`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 42",message="metadata.name must be no more than 42 characters"
type Stack struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec StackSpec `json:"spec,omitempty"`
	// +optional
	Status StackStatus `json:"status,omitempty"`
}

// StackList is a list of Stacks.
//
// +kubebuilder:object:root=true
type StackList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Stack `json:"items"`
}

// StackSpec is what the operator's release 2.9 accepts. Fields that Towpath does
// not act on yet are kept as they are.
type StackSpec struct {
	// Stack is the Pulumi stack, as in organization/orders/dev.
	Stack string `json:"stack"`
	// Backend is the URL of the state backend.
	// +optional
	Backend string `json:"backend,omitempty"`
	// Deprecated: use envRefs with PULUMI_ACCESS_TOKEN.
	// +optional
	AccessTokenSecret string `json:"accessTokenSecret,omitempty"`
	// SecretsProvider is used when the stack is created.
	// +optional
	SecretsProvider string `json:"secretsProvider,omitempty"`
	// UseLocalStackOnly refuses to create the stack.
	// +optional
	UseLocalStackOnly bool `json:"useLocalStackOnly,omitempty"`
	// Environment lists Pulumi ESC environments.
	// +optional
	// +listType=atomic
	Environment []string `json:"environment,omitempty"`

	// EnvRefs are environment variables of the engine.
	// +optional
	EnvRefs map[string]ResourceRef `json:"envRefs,omitempty"`
	// Deprecated: use envRefs.
	// +optional
	Envs []string `json:"envs,omitempty"`
	// Deprecated: use envRefs.
	// +optional
	SecretEnvs []string `json:"envSecrets,omitempty"`

	// Config is stack config; keys without a namespace get the project's.
	// +optional
	Config map[string]apiextensionsv1.JSON `json:"config,omitempty"`
	// ConfigRef takes config from ConfigMaps.
	// +optional
	ConfigRef map[string]ConfigMapRef `json:"configRef,omitempty"`
	// Deprecated: use secretsRef, which keeps secrets out of this object.
	// +optional
	Secrets map[string]string `json:"secrets,omitempty"`
	// SecretsRef is secret config.
	// +optional
	SecretsRef map[string]ResourceRef `json:"secretsRef,omitempty"`

	// +optional
	ProjectRepo string `json:"projectRepo,omitempty"`
	// Deprecated: use gitAuth.
	// +optional
	GitAuthSecret string `json:"gitAuthSecret,omitempty"`
	// +optional
	GitAuth *GitAuthConfig `json:"gitAuth,omitempty"`
	// +optional
	RepoDir string `json:"repoDir,omitempty"`
	// +optional
	Commit string `json:"commit,omitempty"`
	// +optional
	Branch string `json:"branch,omitempty"`
	// +optional
	Shallow bool `json:"shallow,omitempty"`
	// +optional
	FluxSource *FluxSource `json:"fluxSource,omitempty"`
	// ProgramRef names a Program in the same namespace.
	// +optional
	ProgramRef *ProgramReference `json:"programRef,omitempty"`

	// +optional
	Refresh bool `json:"refresh,omitempty"`
	// +optional
	ExpectNoRefreshChanges bool `json:"expectNoRefreshChanges,omitempty"`
	// +optional
	RetryOnUpdateConflict bool `json:"retryOnUpdateConflict,omitempty"`
	// +optional
	Targets []string `json:"targets,omitempty"`
	// +optional
	TargetDependents bool `json:"targetDependents,omitempty"`
	// +optional
	ContinueResyncOnCommitMatch bool `json:"continueResyncOnCommitMatch,omitempty"`
	// ResyncFrequencySeconds has a floor of 60.
	// +optional
	ResyncFrequencySeconds int64 `json:"resyncFrequencySeconds,omitempty"`
	// Prerequisites are Stacks in the same namespace that must have succeeded.
	// +optional
	Prerequisites []PrerequisiteRef `json:"prerequisites,omitempty"`
	// +optional
	DestroyOnFinalize bool `json:"destroyOnFinalize,omitempty"`
	// +optional
	RunProgram bool `json:"runProgram,omitempty"`
	// +optional
	Preview bool `json:"preview,omitempty"`
	// +optional
	RetryMaxBackoffDurationSeconds int64 `json:"retryMaxBackoffDurationSeconds,omitempty"`
	// ServiceAccountName is the identity of applies.
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	WorkspaceTemplate *apiextensionsv1.JSON `json:"workspaceTemplate,omitempty"`
	// +optional
	// +kubebuilder:validation:Enum=Retain;Delete
	WorkspaceReclaimPolicy string `json:"workspaceReclaimPolicy,omitempty"`
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	UpdateTemplate *apiextensionsv1.JSON `json:"updateTemplate,omitempty"`
}

// ResourceRefType says where a value comes from.
//
// +kubebuilder:validation:Enum=Literal;Secret;Env;FS
type ResourceRefType string

// The types of references. Env and FS are refused, as the operator does.
const (
	RefLiteral ResourceRefType = "Literal"
	RefSecret  ResourceRefType = "Secret"
)

// ResourceRef is a value given here or taken from a Secret.
type ResourceRef struct {
	Type ResourceRefType `json:"type"`
	// +optional
	Literal *LiteralRef `json:"literal,omitempty"`
	// +optional
	Secret *SecretSelector `json:"secret,omitempty"`
	// +optional
	Env *EnvSelector `json:"env,omitempty"`
	// +optional
	FileSystem *FSSelector `json:"filesystem,omitempty"`
}

// LiteralRef is a value.
type LiteralRef struct {
	Value string `json:"value"`
}

// SecretSelector names a key of a Secret in the Stack's namespace.
type SecretSelector struct {
	// Deprecated: other namespaces are refused.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Key       string `json:"key"`
}

// EnvSelector is refused.
type EnvSelector struct {
	Name string `json:"name"`
}

// FSSelector is refused.
type FSSelector struct {
	Path string `json:"path"`
}

// ConfigMapRef names a key of a ConfigMap in the Stack's namespace.
type ConfigMapRef struct {
	Name string `json:"name"`
	Key  string `json:"key"`
	// JSON parses the value.
	// +optional
	JSON bool `json:"json,omitempty"`
}

// GitAuthConfig says how to authenticate to the git server.
type GitAuthConfig struct {
	// +optional
	PersonalAccessToken *ResourceRef `json:"accessToken,omitempty"`
	// +optional
	SSHAuth *SSHAuth `json:"sshAuth,omitempty"`
	// +optional
	BasicAuth *BasicAuth `json:"basicAuth,omitempty"`
	// +optional
	GitHubApp *GitHubApp `json:"githubApp,omitempty"`
}

// SSHAuth is an SSH key.
type SSHAuth struct {
	SSHPrivateKey ResourceRef `json:"sshPrivateKey"`
	// +optional
	Password *ResourceRef `json:"password,omitempty"`
}

// BasicAuth is a user name and a password.
type BasicAuth struct {
	UserName ResourceRef `json:"userName"`
	Password ResourceRef `json:"password"`
}

// GitHubApp is a GitHub App installation.
type GitHubApp struct {
	// +optional
	AppID *ResourceRef `json:"appID,omitempty"`
	// +optional
	InstallationID *ResourceRef `json:"installationID,omitempty"`
	// +optional
	PrivateKey *ResourceRef `json:"privateKey,omitempty"`
}

// FluxSource names a Flux source object.
type FluxSource struct {
	SourceRef FluxSourceReference `json:"sourceRef"`
	// +optional
	Dir string `json:"dir,omitempty"`
}

// FluxSourceReference identifies an object with status.artifact.
type FluxSourceReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// ProgramReference names a Program.
type ProgramReference struct {
	Name string `json:"name"`
}

// PrerequisiteRef names a Stack that must have succeeded first.
type PrerequisiteRef struct {
	Name string `json:"name"`
	// +optional
	Requirement *RequirementSpec `json:"requirement,omitempty"`
}

// RequirementSpec is a stronger demand on a prerequisite.
type RequirementSpec struct {
	// SucceededWithinDuration is how old the success may be. The pattern refuses
	// what Go cannot read: one such Stack would hide all others from a controller.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(0|[-+]?([0-9]{1,5}(\.[0-9]{1,9})?h|[0-9]{1,7}(\.[0-9]{1,9})?m|[0-9]{1,9}(\.[0-9]{1,9})?s|[0-9]{1,12}(\.[0-9]{1,9})?(ms|us|µs|ns)){1,6})$`
	SucceededWithinDuration *metav1.Duration `json:"succeededWithinDuration,omitempty"`
}

// StackStatus is where a Stack stands.
type StackStatus struct {
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	ObservedReconcileRequest string `json:"observedReconcileRequest,omitempty"`
	// Outputs of the last up; secret ones read "[secret]".
	// +optional
	Outputs map[string]apiextensionsv1.JSON `json:"outputs,omitempty"`
	// +optional
	CurrentUpdate *CurrentStackUpdate `json:"currentUpdate,omitempty"`
	// +optional
	LastUpdate *StackUpdateState `json:"lastUpdate,omitempty"`
	// +optional
	ProjectInfo *ProjectInfo `json:"projectInfo,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ProjectInfo is what the Pulumi project said of itself.
type ProjectInfo struct {
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Runtime string `json:"runtime,omitempty"`
}

// CurrentStackUpdate is the operation that runs now.
type CurrentStackUpdate struct {
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// +optional
	ReconcileRequest string `json:"reconcileRequest,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Commit string `json:"commit,omitempty"`
}

// The states and types of StackUpdateState.
const (
	UpdateSucceeded = "succeeded"
	UpdateFailed    = "failed"
	UpdateTypeUp    = "up"
)

// StackUpdateState is the last operation that ended. A preview of the gate never
// writes it.
type StackUpdateState struct {
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// +optional
	ReconcileRequest string `json:"reconcileRequest,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Type string `json:"type,omitempty"`
	// +optional
	State string `json:"state,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// +optional
	LastAttemptedCommit string `json:"lastAttemptedCommit,omitempty"`
	// +optional
	LastSuccessfulCommit string `json:"lastSuccessfulCommit,omitempty"`
	// +optional
	Permalink string `json:"permalink,omitempty"`
	// +optional
	LastResyncTime metav1.Time `json:"lastResyncTime,omitempty"`
	// +optional
	Failures int64 `json:"failures,omitempty"`
}
