// Command pulumi-resource-kubernetes is the Pulumi Kubernetes provider, built
// from its Go module. The module does not carry the schema file that its own
// main embeds, so the schema beside it is embedded here by the build instead.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

// version is what the provider reports; the toolchain build sets it to the one
// that it writes into the schema.
var version string

func main() {
	provider.Serve("kubernetes", version, schema, terraformMapping)
}
