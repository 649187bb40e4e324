// Command pulumi-resource-kubernetes is the Pulumi Kubernetes provider, built
// from its Go module. The module does not carry the schema file that its own
// main embeds, so the schema beside it is embedded here by the build instead.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

// version is what the provider reports and what its schema says; the build sets it.
var version = "4.25.0"

func main() {
	provider.Serve("kubernetes", version, schema, terraformMapping)
}
