package operation

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/towpath-dev/towpath/cmd/towpath-runner/cluster"
	"github.com/towpath-dev/towpath/controller/plan"
)

// checkAccess fails when the identity may not do what the plan says. The provider
// previews by a dry run on the server; one that is forbidden it replaces by a
// guess, without a word, and the preview would not be a true one.
func (s *session) checkAccess(ctx context.Context, events []plan.Event) error {
	denied, err := s.target.Denied(ctx, neededAccess(events))
	if err != nil {
		return err
	}
	if len(denied) == 0 {
		return nil
	}
	var lacking []string
	for _, access := range denied {
		text := fmt.Sprintf("%s %s", access.Verb, access.Kind)
		if access.Namespace != "" {
			text += " in namespace " + access.Namespace
		}
		lacking = append(lacking, text)
	}
	return &cluster.DeniedError{Host: s.target.Host, Message: "it may not " + strings.Join(lacking, ", ")}
}

// neededVerbs are the verbs of a server-side apply.
var neededVerbs = map[string][]string{
	"create":             {"create", "patch"},
	"create-replacement": {"create", "patch"},
	"update":             {"patch"},
}

// neededAccess is what applying a plan takes, each once.
func neededAccess(events []plan.Event) []cluster.Access {
	var needed []cluster.Access
	seen := map[cluster.Access]bool{}
	for _, event := range events {
		var e struct {
			Pre *struct {
				Metadata struct {
					Op  string `json:"op"`
					New *struct {
						Type   string         `json:"type"`
						Custom bool           `json:"custom"`
						Inputs map[string]any `json:"inputs"`
					} `json:"new"`
				} `json:"metadata"`
			} `json:"resourcePreEvent"`
		}
		if json.Unmarshal(event, &e) != nil || e.Pre == nil || e.Pre.Metadata.New == nil {
			continue
		}
		resource := e.Pre.Metadata.New
		if !resource.Custom || !strings.HasPrefix(resource.Type, "kubernetes:") {
			continue
		}
		apiVersion, _ := resource.Inputs["apiVersion"].(string)
		kind, _ := resource.Inputs["kind"].(string)
		namespace, known := namespaceOf(resource.Inputs)
		if apiVersion == "" || kind == "" || !known {
			continue
		}
		for _, verb := range neededVerbs[e.Pre.Metadata.Op] {
			access := cluster.Access{Verb: verb, APIVersion: apiVersion, Kind: kind, Namespace: namespace}
			if !seen[access] {
				seen[access] = true
				needed = append(needed, access)
			}
		}
	}
	return needed
}

// unknown is how the engine writes a value that only the apply will know.
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

// namespaceOf is an object's namespace, "" for none, if that is known.
func namespaceOf(inputs map[string]any) (namespace string, known bool) {
	if inputs["metadata"] == nil {
		return "", true
	}
	object, ok := inputs["metadata"].(map[string]any)
	if !ok {
		return "", false
	}
	if object["namespace"] == nil {
		return "", true
	}
	namespace, ok = object["namespace"].(string)
	return namespace, ok && namespace != unknown
}
