package goldenpaths

import (
	"encoding/json"
	"fmt"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// schemaType is Pulumi's type specification.
type schemaType struct {
	Type                 string      `json:"type,omitempty"`
	Ref                  string      `json:"$ref,omitempty"`
	Items                *schemaType `json:"items,omitempty"`
	AdditionalProperties *schemaType `json:"additionalProperties,omitempty"`
}

type schemaProperty struct {
	schemaType
	Secret bool `json:"secret,omitempty"`
}

type schemaResource struct {
	IsComponent     bool                      `json:"isComponent"`
	Properties      map[string]schemaProperty `json:"properties,omitempty"`
	Required        []string                  `json:"required,omitempty"`
	InputProperties map[string]schemaProperty `json:"inputProperties,omitempty"`
	RequiredInputs  []string                  `json:"requiredInputs,omitempty"`
}

type packageSchema struct {
	Name      string                    `json:"name"`
	Version   string                    `json:"version"`
	Resources map[string]schemaResource `json:"resources"`
}

// Schema returns the Pulumi package schema of the component. Unlike the one that
// Pulumi YAML generates it knows the inputs of "towpath: env" and the version, and
// has no defaults taken from environment variables.
func (c *Component) Schema(version string) ([]byte, error) {
	resource := schemaResource{
		IsComponent:     true,
		Properties:      map[string]schemaProperty{},
		Required:        c.Outputs,
		InputProperties: map[string]schemaProperty{},
	}
	for _, output := range c.Outputs {
		resource.Properties[output] = schemaProperty{schemaType: schemaType{Ref: "pulumi.json#/Any"}}
	}
	for _, input := range c.Inputs {
		property := schemaProperty{schemaType: schemaType{Type: string(input.Type)}, Secret: input.Secret}
		switch input.Type {
		case v1alpha1.TypeArray:
			property.Items = &schemaType{Type: string(input.Items)}
		case v1alpha1.TypeObject:
			property.AdditionalProperties = &schemaType{Type: string(input.Items)}
		case v1alpha1.TypeString, v1alpha1.TypeInteger, v1alpha1.TypeNumber, v1alpha1.TypeBoolean:
		}
		resource.InputProperties[input.Name] = property
		if input.Required {
			resource.RequiredInputs = append(resource.RequiredInputs, input.Name)
		}
	}
	schema, err := json.Marshal(packageSchema{
		Name: c.Package, Version: version, Resources: map[string]schemaResource{c.Token: resource},
	})
	if err != nil {
		return nil, fmt.Errorf("write the schema of %s: %w", c.Package, err)
	}
	return schema, nil
}
