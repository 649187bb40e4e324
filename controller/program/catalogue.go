package program

import (
	"maps"
	"slices"
	"sort"

	"github.com/Masterminds/semver/v3"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

// NewCatalogue returns a Catalogue of the given versions. Versions of a stage
// that no new change may use are found by Version but not listed.
func NewCatalogue(versions []v1alpha1.GoldenPathVersion) Catalogue {
	c := catalogue{}
	for i := range versions {
		path := versions[i].Spec.GoldenPath
		c[path] = append(c[path], &versions[i])
	}
	for _, list := range c {
		sort.SliceStable(list, func(i, j int) bool { return newer(list[i].Spec.Version, list[j].Spec.Version) })
	}
	return c
}

type catalogue map[string][]*v1alpha1.GoldenPathVersion

func (c catalogue) Version(goldenPath, version string) *v1alpha1.GoldenPathVersion {
	for _, v := range c[goldenPath] {
		if v.Spec.Version == version {
			return v
		}
	}
	return nil
}

func (c catalogue) Versions(goldenPath string) []string {
	var names []string
	for _, v := range c[goldenPath] {
		if v.Spec.Stage == v1alpha1.StagePublished || v.Spec.Stage == v1alpha1.StageDeprecated {
			names = append(names, v.Spec.Version)
		}
	}
	return names
}

func (c catalogue) GoldenPaths() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if len(c.Versions(name)) > 0 {
			names = append(names, name)
		}
	}
	return names
}

func newer(a, b string) bool {
	va, errA := semver.StrictNewVersion(a)
	vb, errB := semver.StrictNewVersion(b)
	if errA != nil || errB != nil {
		return a > b
	}
	return va.GreaterThan(vb)
}
