// Package v1alpha1 holds Towpath's own kinds, group towpath.dev: what an
// environment demands, which golden paths exist, what is proposed, who reviewed
// it and which engine operations ran. It is data only: it decides nothing and
// imports no other package of this program.
//
// +kubebuilder:object:generate=true
// +groupName=towpath.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "towpath.dev", Version: "v1alpha1"}

// AddToScheme registers every kind of this package.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&Environment{}, &EnvironmentList{},
		&GoldenPath{}, &GoldenPathList{},
		&GoldenPathVersion{}, &GoldenPathVersionList{},
		&ChangeRequest{}, &ChangeRequestList{},
		&Review{}, &ReviewList{},
		&Run{}, &RunList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// Labels and annotations that Towpath reads or writes.
const (
	// EnvironmentLabel names a Stack's environment. A Stack without it is under
	// DefaultEnvironment.
	EnvironmentLabel = "towpath.dev/environment"
	// ServiceLabel names the service (the Program) that an object belongs to.
	ServiceLabel = "towpath.dev/service"
	// ChangeRequestLabel names the ChangeRequest that an object belongs to.
	ChangeRequestLabel = "towpath.dev/change-request"
	// StackKeyLabel is a hash of backend and Pulumi stack: Runs that share it
	// exclude each other, also when two Stack objects point at one Pulumi stack.
	StackKeyLabel = "towpath.dev/stack-key"
	// GoldenPathLabel names the golden path of a GoldenPathVersion.
	GoldenPathLabel = "towpath.dev/golden-path"
	// LastEditorAnnotation is on a Program or Stack that a person has edited since
	// the controller last wrote it; admission sets it to the person's user name.
	LastEditorAnnotation = "towpath.dev/last-editor"
	// DefaultEnvironment is the environment of a Stack that names none: the
	// strictest, one approval and never the author's own.
	DefaultEnvironment = "default"
)
