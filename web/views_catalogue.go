package web

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/towpath-dev/towpath/components"
	"github.com/towpath-dev/towpath/components/page"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
	"github.com/towpath-dev/towpath/web/kube"
)

// stageTag is where a version stands in its life.
func stageTag(stage v1alpha1.Stage) components.TagView {
	switch stage {
	case v1alpha1.StagePublished:
		return components.TagView{Tone: components.Good, Text: "Published"}
	case v1alpha1.StageDeprecated:
		return components.TagView{Tone: components.Warn, Text: "Deprecated"}
	case v1alpha1.StageRetired:
		return components.TagView{Tone: components.Bad, Text: "Retired"}
	case v1alpha1.StageDraft:
	}
	return components.TagView{Tone: components.Idle, Text: "Draft"}
}

// usage counts how many services use each version of each golden path.
func usage(services []kube.Service) map[string]map[string]int {
	used := map[string]map[string]int{}
	for _, service := range services {
		if service.Program == nil {
			continue
		}
		for name, pin := range service.Program.Program.Packages {
			_, version, _ := strings.Cut(pin, "@")
			if used[name] == nil {
				used[name] = map[string]int{}
			}
			used[name][version]++
		}
	}
	return used
}

func total(byVersion map[string]int) int {
	sum := 0
	for _, n := range byVersion {
		sum += n
	}
	return sum
}

// cardView is a golden path in the catalogue, in its newest version.
func cardView(path v1alpha1.GoldenPath, version *v1alpha1.GoldenPathVersion, usedBy int, mayPropose bool) page.CardView {
	view := page.CardView{
		Name: path.Name, Title: safe(path.Spec.Title), URL: goldenPathURL(path.Name), Summary: safe(path.Spec.Summary),
		Owner: safe(path.Spec.Owner), UsedBy: usedBy, Stage: components.TagView{Tone: components.Idle, Text: "No version"},
	}
	for _, tag := range path.Spec.Tags {
		view.Tags = append(view.Tags, safe(tag))
	}
	if version != nil {
		view.Version, view.Stage = safe(version.Spec.Version), stageTag(version.Spec.Stage)
		if mayPropose && usable(version) {
			view.ComposeURL = "/compose?path=" + path.Name
		}
	}
	return view
}

func usable(version *v1alpha1.GoldenPathVersion) bool {
	return version.Spec.Stage == v1alpha1.StagePublished || version.Spec.Stage == v1alpha1.StageDeprecated
}

// goldenPathView is the page of a golden path, without its frame. versions are all
// of its versions, the newest first.
func goldenPathView(path v1alpha1.GoldenPath, versions []v1alpha1.GoldenPathVersion, shown *v1alpha1.GoldenPathVersion, services []kube.Service, mayPropose bool, now time.Time) (page.GoldenPathView, error) {
	view := page.GoldenPathView{
		CatalogueURL: "/catalogue", Name: path.Name, Title: safe(path.Spec.Title), Summary: safe(path.Spec.Summary), Owner: safe(path.Spec.Owner),
		Stage: components.TagView{Tone: components.Idle, Text: "No version"},
	}
	for _, tag := range path.Spec.Tags {
		view.Tags = append(view.Tags, safe(tag))
	}
	used := usage(services)[path.Name]
	for i := range versions {
		version := &versions[i].Spec
		view.Versions = append(view.Versions, page.VersionView{
			Version: safe(version.Version), URL: goldenPathURL(path.Name) + "?version=" + url.QueryEscape(version.Version),
			Stage: stageTag(version.Stage), Published: moment(versions[i].CreationTimestamp, now), Changelog: lines(version.Changelog),
			UsedBy: used[version.Version], Current: shown != nil && version.Version == shown.Spec.Version,
		})
	}
	for _, service := range services {
		if service.Program == nil || service.Program.Program.Packages[path.Name] == "" {
			continue
		}
		_, version, _ := strings.Cut(service.Program.Program.Packages[path.Name], "@")
		view.UsedBy = append(view.UsedBy, page.UseView{
			Service:   components.LinkView{Text: safe(service.Name), URL: serviceURL(service.Namespace, service.Name)},
			Namespace: service.Namespace, Versions: safe(version),
		})
	}
	if shown == nil {
		return view, nil
	}
	return view, describe(&view, shown, versions, mayPropose)
}

// describe fills in what one version says of itself.
func describe(view *page.GoldenPathView, shown *v1alpha1.GoldenPathVersion, versions []v1alpha1.GoldenPathVersion, mayPropose bool) error {
	spec := shown.Spec
	view.Version, view.Stage, view.Token, view.Digest = safe(spec.Version), stageTag(spec.Stage), safe(spec.Token), spec.Digest
	newest := program.NewCatalogue(versions).Versions(spec.GoldenPath)
	switch {
	case spec.Stage == v1alpha1.StageRetired:
		view.Notice = "This version is retired: no new change may use it."
	case spec.Stage == v1alpha1.StageDraft:
		view.Notice = "This version is a draft: changes cannot use it yet."
	case spec.Stage == v1alpha1.StageDeprecated:
		view.Notice = "This version is deprecated: move to a newer one when you can."
	case len(newest) > 0 && newest[0] != spec.Version:
		view.Notice = "There is a newer version: " + safe(newest[0]) + "."
	}
	var err error
	if view.Readme, err = readme(spec.Readme); err != nil {
		return err
	}
	for _, input := range spec.Inputs {
		view.Inputs = append(view.Inputs, inputView(input))
	}
	for _, output := range spec.Outputs {
		view.Outputs = append(view.Outputs, page.OutputTypeView{Name: safe(output.Name), Type: string(output.Type), Secret: output.Secret, Help: safe(output.Help)})
	}
	composable := mayPropose && usable(shown)
	if composable {
		view.ComposeURL = "/compose?path=" + spec.GoldenPath
	}
	for _, example := range spec.Examples {
		text, err := yaml.Marshal(example.Inputs)
		if err != nil {
			return fmt.Errorf("write example %q: %w", example.Name, err)
		}
		exampleView := page.ExampleView{Title: safe(example.Title), YAML: lines(string(text))}
		if exampleView.Title == "" {
			exampleView.Title = safe(example.Name)
		}
		if composable {
			exampleView.ComposeURL = view.ComposeURL + "&example=" + url.QueryEscape(example.Name)
		}
		view.Examples = append(view.Examples, exampleView)
	}
	return nil
}

func inputView(input v1alpha1.GoldenPathInput) page.InputView {
	view := page.InputView{
		Name: safe(input.Name), Type: typeName(input), Required: input.Required, Secret: input.Secret, Help: safe(input.Help), Rule: capital(inputRule(input)),
	}
	if input.Default != nil {
		view.Default = valueText(input.Default.Raw)
	}
	return view
}

func typeName(input v1alpha1.GoldenPathInput) string {
	switch input.Type {
	case v1alpha1.TypeArray:
		return "list of " + string(input.Items) + "s"
	case v1alpha1.TypeObject:
		return "names with " + string(input.Items) + "s"
	case v1alpha1.TypeString, v1alpha1.TypeInteger, v1alpha1.TypeNumber, v1alpha1.TypeBoolean:
	}
	return string(input.Type)
}

// inputRule says in words what an input takes.
func inputRule(input v1alpha1.GoldenPathInput) string {
	switch {
	case len(input.Options) > 0:
		return "one of " + safe(strings.Join(input.Options, ", "))
	case input.Minimum != nil && input.Maximum != nil:
		return fmt.Sprintf("%d to %d", *input.Minimum, *input.Maximum)
	case input.Minimum != nil:
		return fmt.Sprintf("at least %d", *input.Minimum)
	case input.Maximum != nil:
		return fmt.Sprintf("at most %d", *input.Maximum)
	case input.PatternHelp != "":
		return safe(input.PatternHelp)
	}
	return ""
}
