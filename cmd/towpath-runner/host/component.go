package host

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/ast"
)

// componentFile is the name that messages about a component's text carry.
const componentFile = "PulumiPlugin.yaml"

// parse reads a component's text, which has exactly one component.
func parse(text string) (*ast.TemplateDecl, error) {
	template, diags, err := pulumiyaml.LoadYAMLBytes(componentFile, []byte(text))
	if err == nil && diags.HasErrors() {
		err = diags
	}
	if err != nil {
		return nil, plain(err)
	}
	return template, nil
}

// nameChildren names each child <instance>-<child>: a child's URN must differ
// from that of the same child of another instance.
func nameChildren(template *ast.TemplateDecl, instance string) {
	for _, component := range template.Components.Entries {
		for i := range component.Value.Resources.Entries {
			child := component.Value.Resources.Entries[i]
			name := child.Key.Value
			if child.Value.Name != nil {
				name = child.Value.Name.Value
			}
			child.Value.Name = ast.String(instance + "-" + name)
		}
	}
}

// packagesOf are the packages whose resources a component has.
func packagesOf(template *ast.TemplateDecl) []string {
	var packages []string
	for _, component := range template.Components.Entries {
		for _, child := range component.Value.Resources.Entries {
			if child.Value.Type != nil {
				packages = append(packages, pulumiyaml.ResolvePkgName(child.Value.Type.Value))
			}
		}
	}
	slices.Sort(packages)
	return slices.Compact(packages)
}

// plain turns the evaluator's diagnostics into one line of text.
func plain(err error) error {
	diags, ok := pulumiyaml.HasDiagnostics(err)
	if !ok {
		return err
	}
	var problems []string
	for _, diag := range diags {
		if diag.Severity != hcl.DiagError {
			continue
		}
		text := strings.TrimSuffix(diag.Summary, ".")
		if diag.Detail != "" && diag.Detail != diag.Summary {
			text += ": " + strings.TrimSuffix(diag.Detail, ".")
		}
		if diag.Subject != nil {
			text += fmt.Sprintf(" (line %d of %s)", diag.Subject.Start.Line, componentFile)
		}
		if !slices.Contains(problems, text) {
			problems = append(problems, text)
		}
	}
	if len(problems) == 0 {
		return err
	}
	return errors.New(strings.Join(problems, "; "))
}
