package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// providerVersion is the release that the pinned commit of the Kubernetes
// provider is; its module has no tag that says so. All other versions are those
// of the modules' go.mod files.
const providerVersion = "4.25.0"

// module is a nested module and what is built from it.
type module struct {
	name     string
	folder   string
	products []product
}

// product is one program that is built.
type product struct {
	name    string
	pkg     string
	symbols map[string]string // what the linker sets
	tools   []tool
}

// tool is a name that a product is called by.
type tool struct {
	name    string
	version string
	// ask are the arguments that make it print its version. Without, it cannot be
	// asked, and is always built.
	ask []string
}

// readModules returns what to build, in the order of the build.
func readModules(source string) ([]module, error) {
	pulumi, err := readRequires(filepath.Join(source, "pulumi"))
	if err != nil {
		return nil, err
	}
	controlplane, err := readRequires(filepath.Join(source, "controlplane"))
	if err != nil {
		return nil, err
	}
	return []module{
		{name: "Pulumi", folder: filepath.Join(source, "pulumi"), products: pulumiProducts(pulumi)},
		{name: "the control plane", folder: filepath.Join(source, "controlplane"), products: []product{controlPlaneProduct(controlplane)}},
	}, nil
}

func pulumiProducts(versions map[string]string) []product {
	cli := strings.TrimPrefix(versions["github.com/pulumi/pulumi/pkg/v3"], "v")
	yaml := strings.TrimPrefix(versions["github.com/pulumi/pulumi-yaml"], "v")
	symbols := map[string]string{
		"github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": cli,
		"github.com/pulumi/pulumi-yaml/pkg/version.Version":         yaml,
		"main.version": providerVersion,
	}
	return []product{
		{
			name: "pulumi", pkg: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", symbols: symbols,
			tools: []tool{{name: "pulumi", version: cli, ask: []string{"version"}}},
		},
		{
			name: "pulumi-language-yaml", pkg: "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml", symbols: symbols,
			tools: []tool{{name: "pulumi-language-yaml", version: yaml}},
		},
		{
			name: providerName, pkg: "./" + providerName, symbols: symbols,
			tools: []tool{{name: providerName, version: providerVersion}},
		},
	}
}

func controlPlaneProduct(versions map[string]string) product {
	kubernetes := versions["k8s.io/kubernetes"]
	parts := strings.SplitN(strings.TrimPrefix(kubernetes, "v"), ".", 3)
	kwok := strings.TrimPrefix(versions["sigs.k8s.io/kwok"], "v")
	symbols := map[string]string{"sigs.k8s.io/kwok/pkg/consts.Version": kwok}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		symbols[pkg+".gitVersion"] = kubernetes
		symbols[pkg+".gitMajor"] = parts[0]
		symbols[pkg+".gitMinor"] = parts[1]
		symbols[pkg+".gitTreeState"] = "clean"
	}
	ask := []string{"--version"}
	return product{
		name: "controlplane", pkg: ".", symbols: symbols,
		tools: []tool{
			{name: "etcd", version: strings.TrimPrefix(versions["go.etcd.io/etcd/server/v3"], "v"), ask: ask},
			{name: "kube-apiserver", version: kubernetes, ask: ask},
			{name: "kube-controller-manager", version: kubernetes, ask: ask},
			{name: "kube-scheduler", version: kubernetes, ask: ask},
			{name: "kubectl", version: kubernetes, ask: []string{"version", "--client"}},
			{name: "kwok", version: kwok, ask: ask},
		},
	}
}

// readRequires returns the versions that a module requires, by module path.
func readRequires(folder string) (map[string]string, error) {
	path := filepath.Join(folder, "go.mod")
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read pinned versions (run this from the root of the repository): %w", err)
	}
	file, err := modfile.Parse(path, content, nil)
	if err != nil {
		return nil, fmt.Errorf("read pinned versions: %w", err)
	}
	versions := make(map[string]string, len(file.Require))
	for _, require := range file.Require {
		versions[require.Mod.Path] = require.Mod.Version
	}
	return versions, nil
}
