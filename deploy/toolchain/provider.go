package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

const (
	providerName   = "pulumi-resource-kubernetes"
	providerModule = "github.com/pulumi/pulumi-kubernetes/provider/v4"
)

// writeProviderFiles puts the files that the provider embeds beside its main, if
// it is among the products. They come from the provider's module, which carries
// the schema without a version.
func writeProviderFiles(ctx context.Context, m module, products []product) error {
	var folder string
	for _, p := range products {
		if p.name == providerName {
			folder = filepath.Join(m.folder, p.pkg)
		}
	}
	if folder == "" {
		return nil
	}
	if _, err := goOutput(ctx, m.folder, "mod", "download", providerModule); err != nil {
		return err
	}
	source, err := goOutput(ctx, m.folder, "list", "-m", "-f", "{{.Dir}}", providerModule)
	if err != nil {
		return err
	}
	source = filepath.Join(source, "cmd", providerName)
	schema, err := os.ReadFile(filepath.Join(source, "schema.json"))
	if err != nil {
		return fmt.Errorf("read the provider's schema: %w", err)
	}
	if schema, err = withVersion(schema, providerVersion); err != nil {
		return fmt.Errorf("fill in the schema's version: %w", err)
	}
	mapping, err := os.ReadFile(filepath.Join(source, "terraform-mapping.json"))
	if err != nil {
		return fmt.Errorf("read the provider's mapping: %w", err)
	}
	for name, content := range map[string][]byte{"schema-embed.json": schema, "terraform-mapping-embed.json": mapping} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// withVersion sets the version of a package schema and leaves the rest as it is.
func withVersion(schema []byte, version string) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(schema, &fields); err != nil {
		return nil, err
	}
	quoted, err := json.Marshal(version)
	if err != nil {
		return nil, err
	}
	fields["version"] = quoted
	return json.Marshal(fields)
}

// linkPlugin lays out a PULUMI_HOME with the provider installed, where the engine
// finds it by name and version and shares one process.
func linkPlugin(output string) error {
	folder := filepath.Join(output, "pulumi-home", "plugins", "resource-kubernetes-v"+providerVersion)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("create plugin folder: %w", err)
	}
	link := filepath.Join(folder, providerName)
	target := filepath.Join("..", "..", "..", "bin", providerName)
	if have, err := os.Readlink(link); err == nil && have == target {
		return nil
	}
	return replaceLink(target, link)
}
