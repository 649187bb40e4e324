package browser

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/towpath-dev/towpath/e2e/portal"
)

// inProgram is hostile for what the YAML of Pulumi would read as an expression.
var inProgram = strings.ReplaceAll(hostile, "${", "$${")

// hostileChange is the name of a change that is previewed and applied. Names in
// Kubernetes can be no worse than this.
const hostileChange = "xn--script.on--error-alert.1"

// hostileChanges are changes that are hostile in every name and value: one that can
// be applied, one that fails in its preview, and one that is refused before.
func hostileChanges() []map[string]any {
	change := func(name, service string, program, config map[string]any) map[string]any {
		return map[string]any{
			"apiVersion": "towpath.dev/v1alpha1", "kind": "ChangeRequest",
			"metadata": map[string]any{"name": name, "namespace": "shop"},
			"spec": map[string]any{
				"service": service, "description": "Hostile " + hostile + "\n" + hostile, "program": program,
				"environments": []any{map[string]any{"name": "dev", "config": config}, map[string]any{"name": "test"}},
			},
		}
	}
	return []map[string]any{
		change(hostileChange, "constructor", hostileProgram(), map[string]any{"note": "dev " + hostile, "__proto__": hostile}),
		change("hostile-fails", "hostile-fails", map[string]any{
			"resources": map[string]any{"settings": map[string]any{
				"type": "kubernetes:core/v1:ConfigMap", "properties": map[string]any{hostileName: inProgram, inProgram: hostileName},
			}},
		}, nil),
		change("hostile-refused", "hostile-refused", map[string]any{
			"packages":      map[string]any{hostileName: hostileName, "web-service": "web-service@" + hostileName},
			"configuration": map[string]any{hostileName: map[string]any{"type": "String"}},
			"variables":     map[string]any{hostileName: "${" + hostileName + "}"},
			"resources":     map[string]any{hostileName: map[string]any{"type": hostile, "properties": map[string]any{hostile: hostile}}},
			"outputs":       map[string]any{hostileName: "${" + hostileName + ".x}"},
		}, map[string]any{hostileName: hostile}),
	}
}

// hostileProgram is hostile wherever Pulumi and Kubernetes allow it: in names of
// objects, properties, config and outputs, and in values.
func hostileProgram() map[string]any {
	kubernetes := func(kind, name string, more map[string]any) map[string]any {
		properties := map[string]any{"metadata": map[string]any{"name": name, "annotations": map[string]any{"towpath.dev/note": inProgram, "pulumi.com/skipAwait": "true"}}}
		for key, value := range more {
			properties[key] = value
		}
		return map[string]any{"type": "kubernetes:" + kind, "properties": properties}
	}
	text := map[string]any{"type": "String", "default": inProgram}
	labels := map[string]any{"app": "volume"}
	return map[string]any{
		"packages":      map[string]any{"web-service": "web-service@1.0.0"},
		"configuration": map[string]any{"note": text, "__proto__": text, "<script>:alert(1)\x1b[31m\u202e": text},
		"variables":     map[string]any{"toString": inProgram},
		"resources": map[string]any{
			"constructor": map[string]any{"type": "web-service:index:WebService", "properties": map[string]any{
				"image": "ghcr.io/acme/orders:1.0.0", "env": map[string]any{"NOTE": "${note}", "TEXT": inProgram},
			}},
			"__defineGetter__": kubernetes("core/v1:ConfigMap", "x-onerror.alert-1", map[string]any{"data": map[string]any{"onerror..alert-1": inProgram, "__proto__": "${toString}"}}),
			// Names of roles may hold almost anything.
			"role": kubernetes("rbac.authorization.k8s.io/v1:Role", "<img src=x onerror=alert(9)> \u202e", map[string]any{"rules": []any{}}),
			// The attributes of a volume are for its driver, and free.
			"volume": kubernetes("apps/v1:Deployment", "volume", map[string]any{"spec": map[string]any{
				"replicas": 0, "selector": map[string]any{"matchLabels": labels},
				"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{
					"containers": []any{map[string]any{"name": "app", "image": inProgram}},
					"volumes": []any{map[string]any{"name": "volume", "csi": map[string]any{
						"driver": "example.com", "volumeAttributes": map[string]any{hostileName: inProgram, `"><script>alert(1)</script>`: inProgram},
					}}},
				}},
			}}),
		},
		"outputs": map[string]any{
			"link": "javascript:alert(5)", "text": inProgram, "note": "${note}",
			hostileName: inProgram, "<script>alert(1)</script>": map[string]any{hostileName: inProgram},
		},
	}
}

// ruleHostile makes an environment whose every text is hostile.
func ruleHostile(t *testing.T, p *portal.Portal) {
	t.Helper()
	apply(t, p, "platform", map[string]any{
		"apiVersion": "towpath.dev/v1alpha1", "kind": "Environment", "metadata": map[string]any{"name": "hostile"},
		"spec": map[string]any{
			"displayName": hostileName, "after": []any{"prod"},
			"approval":    map[string]any{"groups": []any{hostile}},
			"autoApprove": []any{map[string]any{"expression": "plan.empty", "reason": hostileName}},
		},
	})
}

// publishHostile publishes a golden path whose every text is hostile.
func publishHostile(t *testing.T, p *portal.Portal) {
	t.Helper()
	said, err := kubectl(t, p.Kubeconfig("platform"), "get", "goldenpathversion", "web-service-1.0.0", "-o", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var version struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Spec       map[string]any `json:"spec"`
	}
	if err := json.Unmarshal(said, &version); err != nil {
		t.Fatal(err)
	}
	version.Metadata = map[string]any{"name": "hostile-1.0.0"}
	version.Spec["goldenPath"], version.Spec["token"] = "hostile", "hostile:index:WebService"
	version.Spec["changelog"] = hostile
	version.Spec["readme"] = "# " + hostile + "\n\n" + hostile + "\n\n[click](javascript:alert(7)) ![x](https://elsewhere.example/x.png) <javascript:alert(8)>\n\n" +
		"<iframe src=https://elsewhere.example></iframe>\n\n```html\n" + hostile + "\n```\n\nThe end of the README.\n"
	for _, list := range []string{"inputs", "outputs", "examples"} {
		items, _ := version.Spec[list].([]any)
		for _, item := range items {
			fields, _ := item.(map[string]any)
			for _, field := range []string{"help", "patternHelp"} {
				if _, ok := fields[field].(string); ok {
					fields[field] = hostile
				}
			}
			for _, field := range []string{"label", "group", "title"} {
				if _, ok := fields[field].(string); ok {
					fields[field] = hostileName
				}
			}
		}
	}
	apply(t, p, "platform", map[string]any{
		"apiVersion": version.APIVersion, "kind": "GoldenPath", "metadata": map[string]any{"name": "hostile"},
		"spec": map[string]any{"title": hostileName, "summary": hostile, "owner": hostileName, "tags": []any{hostileName}},
	})
	apply(t, p, "platform", version)
}
