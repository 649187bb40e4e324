package operation

import (
	"encoding/json"
	"fmt"
	"strings"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/plan"
)

// state is a stack's state, as far as operations need it.
type state struct {
	// core changes when anything but outputs does.
	core      string
	resources map[string]string
	pending   []string
	objects   []v1alpha1.ObjectReference
}

// readState digests an export and makes the secrets in it known.
func (s *session) readState(export json.RawMessage) (*state, error) {
	s.learnFrom(export)
	var st state
	var err error
	if st.core, _, err = plan.StateFingerprint(export, s.job.DigestKey, s.engine.Decrypt); err != nil {
		return nil, err
	}
	if st.resources, err = plan.StateResources(export, s.job.DigestKey, s.engine.Decrypt); err != nil {
		return nil, err
	}
	if st.pending, err = plan.PendingOperations(export); err != nil {
		return nil, err
	}
	objects, err := plan.Objects(export)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		st.objects = append(st.objects, v1alpha1.ObjectReference{
			APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name,
		})
	}
	return &st, nil
}

// The engine's mark of a secret in an export or a plan.
const (
	signature       = "4dabf18193072939515e22adb298388d"
	secretSignature = "1b47061264138c4ac30d75fd1eb44270"
)

// learnFrom makes known the secrets in an export (plain text) or a plan file
// (encrypted). What the program says in the clear is no secret: a whole Secret
// object counts as one, the user name in it too.
func (s *session) learnFrom(document json.RawMessage) {
	var tree any
	if json.Unmarshal(document, &tree) != nil {
		return // whoever needs the document will say so
	}
	public := s.publicText()
	s.findSecrets(tree, func(value string) {
		if !strings.Contains(public, value) {
			s.scrubber.Add(value)
		}
	})
}

func (s *session) publicText() string {
	var text strings.Builder
	text.WriteString(s.job.Project)
	for _, path := range s.job.GoldenPaths {
		text.WriteString("\n" + path.Component)
	}
	for name, value := range s.job.Config {
		fmt.Fprintf(&text, "\n%s: %s", name, value)
	}
	text.WriteString("\n" + s.job.Stack)
	return text.String()
}

func (s *session) findSecrets(tree any, found func(string)) {
	switch tree := tree.(type) {
	case []any:
		for _, item := range tree {
			s.findSecrets(item, found)
		}
	case map[string]any:
		if tree[signature] == secretSignature {
			s.openSecret(tree, found)
			return
		}
		for _, item := range tree {
			s.findSecrets(item, found)
		}
	}
}

func (s *session) openSecret(secret map[string]any, found func(string)) {
	plaintext, _ := secret["plaintext"].(string)
	if ciphertext, ok := secret["ciphertext"].(string); ok && plaintext == "" {
		var err error
		if plaintext, err = s.engine.Decrypt(ciphertext); err != nil {
			return // a secret that cannot be read cannot leak either
		}
	}
	var value any
	if json.Unmarshal([]byte(plaintext), &value) == nil {
		leaves(value, found)
	}
}

func leaves(value any, found func(string)) {
	switch value := value.(type) {
	case string:
		found(value)
	case []any:
		for _, item := range value {
			leaves(item, found)
		}
	case map[string]any:
		for _, item := range value {
			leaves(item, found)
		}
	}
}
