package compose

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
)

var serviceName = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,28}[a-z0-9])?$`)

// maxDescription is what a change takes, in characters.
const maxDescription = 4000

// Check returns everything that keeps a proposal from being accepted, each problem
// at its field.
func (f *Form) Check(w World, proposal Proposal) []Problem {
	c := checker{form: f, world: w}
	c.head()
	c.values(proposal)
	for _, problem := range program.Validate(proposal.Spec.Program, w.Catalogue) {
		field, input := f.place(w, problem.Path)
		c.add(field, "%s", told(input, problem.Message))
	}
	for _, environment := range proposal.Spec.Environments {
		c.config(proposal, environment)
	}
	return c.problems
}

type checker struct {
	form     *Form
	world    World
	problems []Problem
}

func (c *checker) add(field, format string, args ...any) {
	problem := Problem{field, fmt.Sprintf(format, args...)}
	if !slices.Contains(c.problems, problem) {
		c.problems = append(c.problems, problem)
	}
}

func (c *checker) head() {
	f := c.form
	switch {
	case f.Service == "":
		c.add(FieldService, "Give the service a name.")
	case !serviceName.MatchString(f.Service):
		c.add(FieldService, "Use at most 30 small letters, digits and -, beginning with a letter.")
	}
	if !slices.Contains(c.world.Teams, f.Namespace) {
		c.add(FieldNamespace, "Choose the team that the service is for.")
	}
	if utf8.RuneCountInString(f.Description) > maxDescription {
		c.add(FieldDescription, "The description is too long: at most 4,000 characters.")
	}
	if len(f.Environments) == 0 {
		c.add(FieldEnvironments, "Choose at least one environment.")
	}
}

// values checks what config holds for single environments as if it stood in the
// Program, which has only an expression in its place.
func (c *checker) values(proposal Proposal) {
	for i := range c.form.Instances {
		instance := &c.form.Instances[i]
		version := c.form.Version(c.world, instance.Path)
		if version == nil {
			continue
		}
		for _, input := range version.Spec.Inputs {
			switch filled := instance.Inputs[input.Name]; {
			case filled.Wire != "":
			case input.Secret:
				c.secrets(proposal, instance.Name, input, filled)
			case len(filled.Each) > 0:
				c.each(instance.Name, version, input, filled)
			}
		}
	}
}

func (c *checker) each(instance string, version *v1alpha1.GoldenPathVersion, input v1alpha1.GoldenPathInput, filled Input) {
	if filled.Text != "" {
		c.value(FieldInput(instance, input.Name), version, input, filled.Text)
	}
	for environment, text := range filled.Each {
		c.value(FieldEach(instance, input.Name, environment), version, input, text)
	}
	if !input.Required || input.Default != nil || filled.Text != "" {
		return
	}
	for _, environment := range c.form.Environments {
		if filled.Each[environment] == "" {
			c.add(FieldEach(instance, input.Name, environment), "%s needs a value in %s, or one for all environments.", Label(input), environment)
		}
	}
}

func (c *checker) value(field string, version *v1alpha1.GoldenPathVersion, input v1alpha1.GoldenPathInput, text string) {
	one := map[string]apiextensionsv1.JSON{input.Name: valueOf(input, text)}
	for _, problem := range goldenpaths.CheckInputs(*version, one) {
		if strings.HasPrefix(problem.Path, input.Name) && !strings.Contains(problem.Message, " is required") {
			c.add(field, "%s", told(input, problem.Message))
		}
	}
}

func (c *checker) secrets(proposal Proposal, instance string, input v1alpha1.GoldenPathInput, filled Input) {
	if len(filled.Secrets) == 0 && !input.Required {
		return
	}
	for _, environment := range proposal.Spec.Environments {
		name := string(environment.Name)
		secret := filled.Secrets[name]
		field := FieldSecret(instance, input.Name, name)
		switch {
		case secret == Secret{}:
			c.add(field, "%s needs a value in %s: type one, or name the Secret that has it.", Label(input), name)
		case input.MaxLength != nil && int64(utf8.RuneCountInString(secret.Value)) > *input.MaxLength:
			c.add(field, "%s is too long: at most %d characters.", Label(input), *input.MaxLength)
		case secret.Value != "" && len(input.Options) > 0 && !slices.Contains(input.Options, secret.Value):
			c.add(field, "%s must be one of those that there are to choose from.", Label(input))
		case secret.Value == "" && !secretRef.MatchString(secret.Ref):
			c.add(FieldRef(instance, input.Name, name), "Write the Secret's name, a / and the key in it, as in orders-db/password.")
		}
	}
}

var secretRef = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[-._a-zA-Z0-9]+$`)

// config asks of config that no field shows what the controller will ask.
func (c *checker) config(proposal Proposal, environment v1alpha1.EnvironmentProposal) {
	known := map[string]bool{}
	for _, stack := range c.world.Stacks {
		if stack.Labels[v1alpha1.EnvironmentLabel] != string(environment.Name) {
			continue
		}
		for key := range stack.Spec.Config {
			known[key] = true
		}
		for key := range stack.Spec.ConfigRef {
			known[key] = true
		}
		for key := range stack.Spec.SecretsRef {
			known[key] = true
		}
		for key := range stack.Spec.Secrets {
			known[key] = true
		}
	}
	environment.Config, environment.SecretsRef = maps.Clone(environment.Config), maps.Clone(environment.SecretsRef)
	for key := range proposal.Spec.Program.Configuration {
		if _, rest := c.form.Rest.Program.Configuration[key]; !rest {
			// It was looked at where it is filled in.
			known[key] = true
			delete(environment.Config, key)
			delete(environment.SecretsRef, key)
		}
	}
	for _, problem := range program.ValidateConfig(proposal.Spec.Program, environment, known) {
		c.add("", "%s: %s", environment.Name, problem.Message)
	}
}

// Label is what the form calls an input.
func Label(input v1alpha1.GoldenPathInput) string { return cmp.Or(input.Label, input.Name) }

var (
	itsEntry = regexp.MustCompile(`^\.(\S+) (.*)$`)
	itsItem  = regexp.MustCompile(`^\[(\d+)\] (.*)$`)
)

// told puts the form's label into a sentence about an input, which begins with the
// input's name as Programs write it.
func told(input v1alpha1.GoldenPathInput, message string) string {
	if rest, ok := strings.CutPrefix(message, "a name in "+input.Name+" "); ok && input.Name != "" {
		return "A name in " + Label(input) + " " + rest
	}
	rest, ok := strings.CutPrefix(message, input.Name)
	if !ok || input.Name == "" {
		return message
	}
	if entry := itsEntry.FindStringSubmatch(rest); entry != nil {
		return entry[1] + " in " + Label(input) + " " + entry[2]
	}
	if item := itsItem.FindStringSubmatch(rest); item != nil {
		n, err := strconv.Atoi(item[1])
		if err == nil {
			return fmt.Sprintf("Line %d of %s %s", n+1, Label(input), item[2])
		}
	}
	if !strings.HasPrefix(rest, " ") {
		return message
	}
	return Label(input) + rest
}

// place is the field of a place in the Program, and the input that it is for; both
// are empty when there is none.
func (f *Form) place(w World, path string) (string, v1alpha1.GoldenPathInput) {
	var none v1alpha1.GoldenPathInput
	if path == "resources" {
		return FieldAddPath, none
	}
	if name, ok := strings.CutPrefix(path, "packages."); ok {
		if slices.ContainsFunc(f.Instances, func(i Instance) bool { return i.Path == name }) {
			return FieldVersion(name), none
		}
		return "", none
	}
	rest, ok := strings.CutPrefix(path, "resources.")
	if !ok {
		return "", none
	}
	name, rest, _ := strings.Cut(rest, ".")
	instance := f.instance(name)
	if instance == nil {
		return "", none
	}
	property, ok := strings.CutPrefix(rest, "properties.")
	if !ok {
		return FieldInstance(name), none
	}
	property = property[:strings.IndexAny(property+".", ".[")]
	filled, known := instance.Inputs[property]
	switch {
	case filled.Wire != "":
		return FieldWire(name, property), f.input(w, instance.Path, property)
	case known:
		return FieldInput(name, property), f.input(w, instance.Path, property)
	}
	return FieldInstance(name), none
}

func (f *Form) input(w World, path, name string) v1alpha1.GoldenPathInput {
	if version := f.Version(w, path); version != nil {
		for _, input := range version.Spec.Inputs {
			if input.Name == name {
				return input
			}
		}
	}
	return v1alpha1.GoldenPathInput{}
}
