package main

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Packages compile once for two modules only in the same version. Nothing holds
// the modules together but this test.
func TestSharedModulesHaveOneVersion(t *testing.T) {
	t.Parallel()
	common := []string{
		"golang.org/x/crypto",
		"golang.org/x/net",
		"golang.org/x/sync",
		"golang.org/x/sys",
		"golang.org/x/text",
		"google.golang.org/grpc",
		"google.golang.org/protobuf",
	}
	// The Kubernetes provider needs an older client-go than the rest of Towpath, so
	// the Pulumi module shares none of Kubernetes.
	tests := map[string]struct {
		folder string
		shared []string
	}{
		"the runner and the Pulumi programs": {
			folder: "pulumi",
			shared: append([]string{
				"github.com/pulumi/esc",
				"github.com/pulumi/pulumi-yaml",
				"github.com/pulumi/pulumi/pkg/v3",
				"github.com/pulumi/pulumi/sdk/v3",
			}, common...),
		},
		"the portal and the control plane": {
			folder: "controlplane",
			shared: append([]string{
				"github.com/google/cel-go",
				"k8s.io/klog/v2",
				"k8s.io/kube-openapi",
				"k8s.io/utils",
				"sigs.k8s.io/json",
				"sigs.k8s.io/kwok",
				"sigs.k8s.io/structured-merge-diff/v6",
			}, common...),
		},
	}
	root, err := readRequires(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nested, err := readRequires(test.folder)
			if err != nil {
				t.Fatal(err)
			}
			want, got := map[string]string{}, map[string]string{}
			for _, path := range test.shared {
				if root[path] == "" {
					t.Errorf("the root go.mod does not require %s", path)
				}
				want[path], got[path] = root[path], nested[path]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("versions (-root +%s):\n%s", test.folder, diff)
			}
		})
	}
}

// Kubernetes' own modules are versioned v0.37.2 for v1.37.2.
func TestClientAndServerOfKubernetesHaveOneVersion(t *testing.T) {
	t.Parallel()
	root, err := readRequires(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	nested, err := readRequires("controlplane")
	if err != nil {
		t.Fatal(err)
	}
	want := "v0" + nested["k8s.io/kubernetes"][len("v1"):]
	for _, path := range []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go"} {
		if root[path] != want {
			t.Errorf("the root go.mod requires %s %s, want %s", path, root[path], want)
		}
	}
}
