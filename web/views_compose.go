package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
	"github.com/towpath-dev/towpath/web/compose"
)

// formView makes the page of a form: its parts share the form, the world and what
// is wrong at which field.
type formView struct {
	form     *compose.Form
	world    compose.World
	problems map[string]string
	// seal hides a secret value that was typed, for the next step of the form.
	seal   func(field, value string) string
	hidden []components.HiddenView
}

// composeView is the page of the form, without its frame.
func composeView(world compose.World, form *compose.Form, problems []compose.Problem, seal func(field, value string) string) (page.ComposeView, error) {
	v := &formView{form: form, world: world, problems: map[string]string{}, seal: seal}
	for _, problem := range problems {
		if v.problems[problem.Field] == "" {
			v.problems[problem.Field] = sentence(safe(problem.Message))
		}
	}
	view := page.ComposeView{Action: "/compose", Title: "Compose a new service", Fixed: form.Fixed, EnvironmentsProblem: v.problems[compose.FieldEnvironments]}
	if form.Fixed {
		view.Title = "Change " + safe(form.Service)
	}
	for _, problem := range problems {
		view.Problems = append(view.Problems, v.problemLink(problem))
	}
	v.head(&view)
	for i := range form.Instances {
		view.Instances = append(view.Instances, v.instance(&form.Instances[i]))
	}
	view.Outputs = v.outputs()
	for _, environment := range world.Stages() {
		hint := whoDecides(environment)
		if called := environment.Spec.DisplayName; called != "" && !strings.EqualFold(called, environment.Name) {
			hint = safe(called) + ". " + hint
		}
		view.Environments = append(view.Environments, components.FieldView{
			ID: "environment-" + environment.Name, Name: compose.FieldEnvironments, Kind: components.Checkbox, Value: environment.Name,
			Label: safe(environment.Name), Checked: form.Chosen(environment.Name), Hint: hint,
		})
	}
	proposal := form.Build(world)
	text, err := manifest(form, proposal.Spec.Program)
	if err != nil {
		return view, err
	}
	view.YAML = text
	if form.Fixed && form.Base == program.Digest(proposal.Spec.Program) {
		view.Changed = "The Program is as it runs now; only values of environments may differ."
	}
	if err := v.carry(); err != nil {
		return view, err
	}
	view.Hidden = v.hidden
	return view, nil
}

// problemLink leads to where a problem can be mended.
func (v *formView) problemLink(problem compose.Problem) components.ProblemLinkView {
	link := components.ProblemLinkView{Text: sentence(safe(problem.Message))}
	for i := range v.form.Instances {
		if instance := &v.form.Instances[i]; instance.Name == problem.Instance() {
			link.Text = instance.Name + " (" + safe(v.world.Title(instance.Path)) + "): " + link.Text
		}
	}
	if problem.Field != "" {
		link.URL = "#" + problem.Field
	}
	return link
}

// seenAtOnce is how many golden paths are all shown to choose from; more of them
// are a list to pick from.
const seenAtOnce = 8

// head is what is asked of the service as a whole, and of the next instance.
func (v *formView) head(view *page.ComposeView) {
	form := v.form
	view.Service = v.field(components.FieldView{
		Name: compose.FieldService, Label: "Name of the service", Value: form.Service, Required: true, MaxLength: 30,
		Hint: "Small letters, digits and -. It names the Program and its Stacks.",
	})
	view.Namespace = v.field(components.FieldView{Name: compose.FieldNamespace, Label: "Team", Value: form.Namespace, Required: true, Kind: components.Select})
	if len(v.world.Teams) != 1 {
		view.Namespace.Options = append(view.Namespace.Options, components.OptionView{Label: "Choose a team"})
	}
	for _, team := range v.world.Teams {
		view.Namespace.Options = append(view.Namespace.Options, components.OptionView{Value: team, Label: team, Selected: team == form.Namespace})
	}
	view.Description = v.field(components.FieldView{
		Name: compose.FieldDescription, Label: "What is the change for?", Value: form.Description, Kind: components.LongText, MaxLength: 4000,
		Hint: "Reviewers read this first. The first line is the change's title.",
	})
	view.AddPath = v.field(components.FieldView{Name: compose.FieldAddPath, Label: "Golden path", Required: true, Kind: components.Select, Options: []components.OptionView{{Label: "Choose one"}}})
	paths := v.world.Catalogue.GoldenPaths()
	for _, path := range paths {
		view.AddPath.Options = append(view.AddPath.Options, components.OptionView{Value: path, Label: safe(v.world.Title(path)), Selected: path == form.AddPath})
		if len(paths) <= seenAtOnce {
			view.Choices = append(view.Choices, page.ChoiceView{Path: path, Title: safe(v.world.Title(path)), Summary: safe(v.world.GoldenPaths[path].Summary)})
		}
	}
	view.AddName = v.field(components.FieldView{
		Name: compose.FieldAddName, Label: "Its name", Value: form.AddName, MaxLength: 40, Hint: "Objects in the cluster are named after it. Left empty, one is chosen.",
	})
}

// field completes a field: its id is its name, and it has its problem.
func (v *formView) field(f components.FieldView) components.FieldView {
	f.ID, f.Problem = f.Name, v.problems[f.Name]
	return f
}

func (v *formView) instance(instance *compose.Instance) page.InstanceView {
	view := page.InstanceView{
		ID: compose.FieldInstance(instance.Name), Name: instance.Name,
		Path: goldenPathLink(instance.Path, v.form.Rest.Versions[instance.Path]), Notice: v.problems[compose.FieldInstance(instance.Name)],
	}
	if view.Notice != "" {
		view.Problem++
	}
	view.Path.Text = safe(v.world.Title(instance.Path) + " " + v.form.Rest.Versions[instance.Path])
	version := v.form.Version(v.world, instance.Path)
	if version == nil {
		view.Notice = "This version of the golden path is not in the catalogue any more. Remove the instance, or ask its owners."
		return view
	}
	if view.Notice == "" {
		view.Notice = v.notice(instance, version)
	}
	if field, ok := v.version(instance, version); ok {
		view.Fields = append(view.Fields, field)
	}
	groups := map[string]int{}
	for i, input := range version.Spec.Inputs {
		field := v.input(instance, input)
		open := filledIn(field)
		if troubled(field) {
			view.Problem++
		}
		// The first group, and what is required, is what one fills in.
		if input.Required || input.Group == "" || i > 0 && input.Group == version.Spec.Inputs[0].Group || i == 0 {
			view.Fields = append(view.Fields, field)
			continue
		}
		at, ok := groups[input.Group]
		if !ok {
			at = len(view.Groups)
			groups[input.Group] = at
			view.Groups = append(view.Groups, page.FieldGroupView{Title: safe(input.Group)})
		}
		view.Groups[at].Fields = append(view.Groups[at].Fields, field)
		view.Groups[at].Open = view.Groups[at].Open || open
	}
	return view
}

// version asks which version of a golden path to use, at its first instance, when
// there is a choice or a problem.
func (v *formView) version(instance *compose.Instance, version *v1alpha1.GoldenPathVersion) (components.FieldView, bool) {
	first := slices.IndexFunc(v.form.Instances, func(i compose.Instance) bool { return i.Path == instance.Path })
	field := v.field(components.FieldView{
		Name: compose.FieldVersion(instance.Path), Label: "Version of " + safe(v.world.Title(instance.Path)), Kind: components.Select, Required: true,
		Hint: "It holds for each " + safe(v.world.Title(instance.Path)) + " in this service.",
	})
	usable := v.world.Catalogue.Versions(instance.Path)
	if !slices.Contains(usable, version.Spec.Version) {
		usable = append(usable, version.Spec.Version)
	}
	for _, name := range usable {
		field.Options = append(field.Options, components.OptionView{Value: name, Label: safe(name), Selected: name == version.Spec.Version})
	}
	return field, v.form.Instances[first].Name == instance.Name && (len(usable) > 1 || field.Problem != "")
}

// notice says what is special about an instance.
func (v *formView) notice(instance *compose.Instance, version *v1alpha1.GoldenPathVersion) string {
	var sentences []string
	if kept := slices.Sorted(maps.Keys(v.form.Rest.Extras[instance.Name].Properties)); len(kept) > 0 {
		for i := range kept {
			kept[i] = safe(kept[i])
		}
		sentences = append(sentences, "Written by hand, and kept as it is: "+enumerate(kept)+".")
	}
	if versions := v.world.Catalogue.Versions(instance.Path); len(versions) > 0 && versions[0] != version.Spec.Version {
		sentences = append(sentences, "There is a newer version: "+safe(versions[0])+".")
	}
	if version.Spec.Stage == v1alpha1.StageDeprecated {
		sentences = append(sentences, "This version is deprecated.")
	}
	return strings.Join(sentences, " ")
}

func filledIn(f components.FieldView) bool {
	return f.Value != "" || f.Wire != nil && f.Wire.Wired != "" || troubled(f) ||
		slices.ContainsFunc(f.PerEnvironment, func(each components.FieldView) bool { return each.Value != "" })
}

func troubled(f components.FieldView) bool {
	return f.Problem != "" || slices.ContainsFunc(f.PerEnvironment, func(each components.FieldView) bool { return each.Problem != "" })
}

func (v *formView) input(instance *compose.Instance, input v1alpha1.GoldenPathInput) components.FieldView {
	filled := instance.Inputs[input.Name]
	field := v.field(components.FieldView{
		Name: compose.FieldInput(instance.Name, input.Name), Label: safe(compose.Label(input)), Hint: inputHint(input), Value: filled.Text, Required: input.Required,
	})
	none := "Choose one"
	if input.Default != nil {
		field.Default = valueText(input.Default.Raw)
		none = "Default: " + optionLabel(input, field.Default)
	} else if !input.Required {
		none = "None"
	}
	v.kind(&field, input, filled.Text, none)
	v.wire(&field, instance, input, filled)
	switch {
	case input.Secret:
		field.PerEnvironmentOnly = true
		v.secrets(&field, instance, input, filled)
	case compose.PerEnvironment(input):
		for _, environment := range v.world.Stages() {
			each := v.field(components.FieldView{
				Name: compose.FieldEach(instance.Name, input.Name, environment.Name), Label: safe(environment.Name), Value: filled.Each[environment.Name],
			})
			v.kind(&each, input, each.Value, "As everywhere")
			field.PerEnvironment = append(field.PerEnvironment, each)
		}
	}
	return field
}

// inputHint is what an input is for, and its bounds, which no help text repeats.
func inputHint(input v1alpha1.GoldenPathInput) string {
	if input.Minimum == nil && input.Maximum == nil {
		return safe(input.Help)
	}
	return strings.TrimSpace(safe(input.Help) + " " + sentence(inputRule(input)))
}

// optionLabel is a value of an input as its select shows it.
func optionLabel(input v1alpha1.GoldenPathInput, value string) string {
	if input.Type == v1alpha1.TypeBoolean {
		return map[string]string{"true": "Yes", "false": "No"}[value]
	}
	return value
}

// kind chooses how a field asks for its value; none is the option for no value.
func (v *formView) kind(field *components.FieldView, input v1alpha1.GoldenPathInput, value, none string) {
	if input.MaxLength != nil && input.Type == v1alpha1.TypeString {
		field.MaxLength = int(*input.MaxLength)
	}
	choose := func(options ...components.OptionView) {
		field.Kind = components.Select
		field.Options = append([]components.OptionView{{Label: none}}, options...)
		if value != "" && !slices.ContainsFunc(options, func(o components.OptionView) bool { return o.Selected }) {
			field.Options = append(field.Options, components.OptionView{Value: value, Label: safe(value), Selected: true})
		}
	}
	switch input.Type {
	case v1alpha1.TypeInteger, v1alpha1.TypeNumber:
		field.Kind = components.Number
	case v1alpha1.TypeBoolean:
		choose(components.OptionView{Value: "true", Label: "Yes", Selected: value == "true"}, components.OptionView{Value: "false", Label: "No", Selected: value == "false"})
	case v1alpha1.TypeArray:
		field.Kind = components.List
	case v1alpha1.TypeObject:
		field.Kind = components.KeyValue
	case v1alpha1.TypeString:
		if len(input.Options) == 0 {
			return
		}
		var options []components.OptionView
		for _, option := range input.Options {
			options = append(options, components.OptionView{Value: option, Label: safe(option), Selected: option == value})
		}
		choose(options...)
	}
}

func (v *formView) wire(field *components.FieldView, instance *compose.Instance, input v1alpha1.GoldenPathInput, filled compose.Input) {
	fitting := v.form.Fitting(v.world, instance.Name, input)
	if filled.Wire != "" && !slices.Contains(fitting, filled.Wire) {
		fitting = append(fitting, filled.Wire)
	}
	if len(fitting) == 0 {
		return
	}
	name := compose.FieldWire(instance.Name, input.Name)
	field.Wire = &components.WireView{ID: name, Name: name}
	for _, output := range fitting {
		words := strings.Replace(safe(output), ".", " → ", 1)
		field.Wire.Options = append(field.Wire.Options, components.OptionView{Value: output, Label: words, Selected: output == filled.Wire})
		if output == filled.Wire {
			field.Wire.Wired = words
		}
		// An output of the input's own name is made for it; a number of the same name
		// is more often another one, such as a port.
		if strings.HasSuffix(output, "."+input.Name) && input.Type == v1alpha1.TypeString && filled.Text == "" {
			field.Wire.Suggested = true
		}
	}
	if problem := v.problems[name]; problem != "" {
		field.Problem = problem
	}
}

// secrets asks for a secret value in each environment. What was typed is carried
// along sealed; no page shows it.
func (v *formView) secrets(field *components.FieldView, instance *compose.Instance, input v1alpha1.GoldenPathInput, filled compose.Input) {
	field.Hint = strings.TrimSpace(field.Hint + " Type it, or name a Secret of the team and its key, as in orders-db/password.")
	for _, environment := range v.world.Stages() {
		secret := filled.Secrets[environment.Name]
		name := safe(environment.Name)
		typed := v.field(components.FieldView{
			Name: compose.FieldSecret(instance.Name, input.Name, environment.Name), Kind: components.Password, Label: name,
		})
		if len(input.Options) > 0 {
			// What may be chosen is no secret; what was chosen is, so nothing is selected.
			typed.Kind, typed.Options = components.Select, []components.OptionView{{Label: "Choose one"}}
			for _, option := range input.Options {
				typed.Options = append(typed.Options, components.OptionView{Value: option, Label: safe(option)})
			}
		}
		if secret.Value != "" {
			typed.Label += ", given and kept"
			sealed := compose.FieldSealed(instance.Name, input.Name, environment.Name)
			v.hidden = append(v.hidden, components.HiddenView{Name: sealed, Value: v.seal(sealed, secret.Value)})
		}
		ref := v.field(components.FieldView{
			Name: compose.FieldRef(instance.Name, input.Name, environment.Name), Label: name + ", or Secret/key", Value: secret.Ref,
		})
		field.PerEnvironment = append(field.PerEnvironment, typed, ref)
	}
}

// outputs are the outputs of instances that the service can show.
func (v *formView) outputs() []components.FieldView {
	var fields []components.FieldView
	for _, instance := range v.form.Instances {
		version := v.form.Version(v.world, instance.Path)
		if version == nil {
			continue
		}
		for _, output := range version.Spec.Outputs {
			value := instance.Name + "." + output.Name
			fields = append(fields, components.FieldView{
				ID: "export." + value, Name: "export", Kind: components.Checkbox, Value: value,
				Label: instance.Name + " → " + safe(output.Name), Hint: safe(output.Help), Checked: instance.Exported(output.Name),
			})
		}
	}
	return fields
}

// carry hides in the form what its fields do not hold.
func (v *formView) carry() error {
	rest, err := json.Marshal(v.form.Rest)
	if err != nil {
		return fmt.Errorf("encode the rest of the form: %w", err)
	}
	add := func(name, value string) {
		v.hidden = append(v.hidden, components.HiddenView{Name: name, Value: value})
	}
	add("draft", v.form.Draft)
	add("base", v.form.Base)
	if v.form.Fixed {
		add("fixed", "true")
	}
	add("rest", string(rest))
	for _, instance := range v.form.Instances {
		add("instance", instance.Name+"="+instance.Path)
	}
	return nil
}

// manifest is the Program as kubectl takes it.
func manifest(form *compose.Form, spec pulumiv1.ProgramSpec) (string, error) {
	type metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace,omitempty"`
	}
	text, err := yaml.Marshal(struct {
		APIVersion string               `json:"apiVersion"`
		Kind       string               `json:"kind"`
		Metadata   metadata             `json:"metadata"`
		Program    pulumiv1.ProgramSpec `json:"program"`
	}{pulumiv1.GroupVersion.String(), "Program", metadata{form.Service, form.Namespace}, spec})
	if err != nil {
		return "", fmt.Errorf("write the Program: %w", err)
	}
	return lines(string(text)), nil
}
