package program

import (
	"maps"
	"slices"
	"sort"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
)

// reference is one ${…} in a Program: the name it begins with and the first
// property behind it, "" when there is none.
type reference struct {
	path     string // where it stands
	root     string
	property string
	whole    bool // the string is nothing but this expression
}

// references returns the expressions in a value, in the order of their places.
func references(path string, value any) []reference {
	switch v := value.(type) {
	case string:
		return parse(path, v)
	case []any:
		var all []reference
		for i, item := range v {
			all = append(all, references(path+"["+itoa(i)+"]", item)...)
		}
		return all
	case map[string]any:
		var all []reference
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, references(path+"."+key, v[key])...)
		}
		return all
	}
	return nil
}

// parse finds ${name.property…} in a string; $${ is an escaped ${, as in Pulumi
// YAML. An expression that names nothing or does not end has the root "".
func parse(path, text string) []reference {
	var found []reference
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '$' {
			continue
		}
		if text[i+1] == '$' {
			i++
			continue
		}
		if text[i+1] != '{' {
			continue
		}
		end := strings.IndexByte(text[i:], '}')
		if end < 0 {
			return append(found, reference{path: path})
		}
		inner := text[i+2 : i+end]
		ref := reference{path: path, whole: i == 0 && i+end == len(text)-1}
		ref.root, ref.property = access(inner)
		found = append(found, ref)
		i += end
	}
	return found
}

// access splits a property access into its root and first property.
func access(inner string) (root, property string) {
	cut := strings.IndexAny(inner, ".[")
	if cut < 0 {
		return strings.TrimSpace(inner), ""
	}
	root, rest := strings.TrimSpace(inner[:cut]), inner[cut:]
	if strings.HasPrefix(rest, `["`) {
		property, _, _ = strings.Cut(rest[2:], `"]`)
		return root, property
	}
	rest = strings.TrimPrefix(rest, ".")
	if end := strings.IndexAny(rest, ".["); end >= 0 {
		rest = rest[:end]
	}
	return root, strings.TrimSpace(rest)
}

// node is a resource or variable with what it refers to.
type node struct {
	path string
	refs []reference
}

// graph returns every resource and variable of a Program with its references.
func graph(spec pulumiv1.ProgramSpec) map[string]node {
	nodes := map[string]node{}
	for name, value := range spec.Variables {
		path := "variables." + name
		nodes[name] = node{path: path, refs: references(path, literal(value))}
	}
	for name, resource := range spec.Resources {
		nodes[name] = node{path: "resources." + name, refs: resourceReferences(name, resource)}
	}
	return nodes
}

func resourceReferences(name string, resource pulumiv1.Resource) []reference {
	path := "resources." + name
	var refs []reference
	for _, property := range slices.Sorted(maps.Keys(resource.Properties)) {
		refs = append(refs, references(path+".properties."+property, literal(resource.Properties[property]))...)
	}
	if resource.Get != nil {
		refs = append(refs, parse(path+".get.id", resource.Get.ID)...)
		for _, key := range slices.Sorted(maps.Keys(resource.Get.State)) {
			refs = append(refs, references(path+".get.state."+key, literal(resource.Get.State[key]))...)
		}
	}
	if options := resource.Options; options != nil {
		for i, dependency := range options.DependsOn {
			refs = append(refs, references(path+".options.dependsOn["+itoa(i)+"]", literal(dependency))...)
		}
		for key, value := range map[string]*apiextensionsv1.JSON{"parent": options.Parent, "provider": options.Provider} {
			if value != nil {
				refs = append(refs, references(path+".options."+key, literal(*value))...)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(options.Providers)) {
			refs = append(refs, references(path+".options.providers."+key, literal(options.Providers[key]))...)
		}
	}
	sort.SliceStable(refs, func(i, j int) bool { return refs[i].path < refs[j].path })
	return refs
}

// cycle returns the names along one cycle, the first repeated at the end, or nil.
func cycle(nodes map[string]node) []string {
	search := &search{nodes: nodes, done: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		if found := search.visit(name); found != nil {
			return found
		}
	}
	return nil
}

// search is a walk along references, depth first.
type search struct {
	nodes map[string]node
	done  map[string]bool // no cycle leads from here
	trail []string        // the way to where the walk is
}

func (s *search) visit(name string) []string {
	if _, known := s.nodes[name]; !known || s.done[name] {
		return nil
	}
	if i := slices.Index(s.trail, name); i >= 0 {
		return append(slices.Clone(s.trail[i:]), name)
	}
	s.trail = append(s.trail, name)
	for _, ref := range s.nodes[name].refs {
		if found := s.visit(ref.root); found != nil {
			return found
		}
	}
	s.trail = s.trail[:len(s.trail)-1]
	s.done[name] = true
	return nil
}
