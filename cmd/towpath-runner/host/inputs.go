package host

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"google.golang.org/protobuf/types/known/structpb"

	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
)

// plainInputs gives an instance's inputs as Component.Expand takes them: secrets
// unwrapped, goldenpaths.Unknown for what only the apply will know.
func plainInputs(inputs *structpb.Struct) (map[string]any, error) {
	properties, err := plugin.UnmarshalProperties(inputs, plugin.MarshalOptions{
		KeepUnknowns: true, KeepSecrets: true, KeepResources: true, KeepOutputValues: true,
	})
	if err != nil {
		return nil, fmt.Errorf("read inputs: %w", err)
	}
	values := make(map[string]any, len(properties))
	for name, value := range properties {
		values[string(name)] = plainValue(value)
	}
	return values, nil
}

func plainValue(value resource.PropertyValue) any {
	switch {
	case value.IsSecret():
		return plainValue(value.SecretValue().Element)
	case value.IsOutput():
		if output := value.OutputValue(); output.Known {
			return plainValue(output.Element)
		}
		return goldenpaths.Unknown{}
	case value.IsComputed():
		return goldenpaths.Unknown{}
	case value.IsNull():
		return nil
	case value.IsBool():
		return value.BoolValue()
	case value.IsNumber():
		return value.NumberValue()
	case value.IsString():
		return value.StringValue()
	case value.IsArray():
		items := make([]any, len(value.ArrayValue()))
		for i, item := range value.ArrayValue() {
			items[i] = plainValue(item)
		}
		return items
	case value.IsObject():
		fields := make(map[string]any, len(value.ObjectValue()))
		for name, field := range value.ObjectValue() {
			fields[string(name)] = plainValue(field)
		}
		return fields
	}
	// Assets and resource references are never a golden path's input.
	return value.String()
}
