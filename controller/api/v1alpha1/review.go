package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Decision is what a reviewer says.
//
// +kubebuilder:validation:Enum=Approve;Reject;Comment
type Decision string

// The decisions.
const (
	Approve Decision = "Approve"
	Reject  Decision = "Reject"
	Comment Decision = "Comment"
)

// Review is what one person said of one plan. It is immutable; admission writes
// the reviewer from the authenticated request, whatever the client sent.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=towpath
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Change",type=string,JSONPath=`.spec.changeRequest`
// +kubebuilder:printcolumn:name="Environment",type=string,JSONPath=`.spec.environment`
// +kubebuilder:printcolumn:name="Reviewer",type=string,JSONPath=`.spec.reviewer.username`
// +kubebuilder:printcolumn:name="Decision",type=string,JSONPath=`.spec.decision`
// +kubebuilder:printcolumn:name="Counts",type=boolean,JSONPath=`.status.counts`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Review struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ReviewSpec `json:"spec"`
	// +optional
	Status ReviewStatus `json:"status,omitempty"`
}

// ReviewList is a list of Reviews.
//
// +kubebuilder:object:root=true
type ReviewList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Review `json:"items"`
}

// ReviewSpec is the review itself.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a Review is immutable: write another one"
// +kubebuilder:validation:XValidation:rule="self.decision == 'Approve' || (has(self.comment) && size(self.comment) > 0)",message="say why: a Reject or a Comment needs a comment"
type ReviewSpec struct {
	// ChangeRequest is the name of the change under review, in this namespace.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ChangeRequest string `json:"changeRequest"`
	// Environment is the one whose plan is reviewed.
	Environment EnvironmentName `json:"environment"`
	// PlanDigest is the digest of the plan that the reviewer saw. A review of any
	// other plan than the current one does not count.
	// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
	PlanDigest string   `json:"planDigest"`
	Decision   Decision `json:"decision"`
	// Comment is for people; a Reject and a Comment need one.
	// +optional
	// +kubebuilder:validation:MaxLength=4000
	Comment string `json:"comment,omitempty"`
	// Reviewer is written by admission.
	// +optional
	Reviewer Person `json:"reviewer,omitempty"`
}

// Person is who authenticated.
type Person struct {
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Username string `json:"username,omitempty"`
	// Groups at the time.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2000
	Groups []string `json:"groups,omitempty"`
}

// ReviewStatus says what became of a review.
type ReviewStatus struct {
	// Counts says whether the review is used by the gate. Absent: not judged yet.
	// +optional
	Counts *bool `json:"counts,omitempty"`
	// Message says why it counts or not.
	// +optional
	Message string `json:"message,omitempty"`
}
