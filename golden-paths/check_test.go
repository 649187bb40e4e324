package goldenpaths_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
)

func surface() v1alpha1.GoldenPathVersion {
	one, twenty, five := int64(1), int64(20), int64(5)
	return v1alpha1.GoldenPathVersion{Spec: v1alpha1.GoldenPathVersionSpec{
		GoldenPath: "web-service",
		Inputs: []v1alpha1.GoldenPathInput{
			{Name: "image", Type: "string", Required: true},
			{Name: "replicas", Type: "integer", Minimum: &one, Maximum: &twenty},
			{Name: "burst", Type: "integer", Minimum: &one, Default: literal(`0`)},
			{Name: "ratio", Type: "number", Maximum: &one},
			{Name: "public", Type: "boolean"},
			{Name: "short", Type: "string", MaxLength: &five},
			{Name: "storage", Type: "string", Pattern: "[0-9]+Gi", PatternHelp: "a size, as in 10Gi"},
			{Name: "code", Type: "string", Pattern: "a|b"},
			{Name: "version", Type: "string", Options: []string{"16", "17"}},
			{Name: "password", Type: "string", Secret: true},
			{Name: "hosts", Type: "array", Items: "string"},
			{Name: "env", Type: "object", Items: "string", Pattern: "[A-Z_]+", PatternHelp: "capital letters", MaxLength: &five},
			{Name: "name", Type: "string", Default: literal(`""`), Pattern: "[a-z]+", PatternHelp: "small letters"},
		},
	}}
}

func TestCheckInputs(t *testing.T) {
	tests := map[string]struct {
		inputs map[string]string
		want   map[string]string
	}{
		"everything is as it should be": {
			inputs: map[string]string{
				"image": `"nginx"`, "replicas": `3`, "ratio": `0.5`, "public": `true`, "short": `"abcde"`, "storage": `"10Gi"`,
				"version": `"17"`, "password": `"${dbPassword}"`, "hosts": `["a","b"]`, "env": `{"LOG":"info"}`, "name": `"x"`,
			},
		},
		"a required input is missing":          {map[string]string{"image": ""}, map[string]string{"image": "image is required"}},
		"a required input is null":             {map[string]string{"image": `null`}, map[string]string{"image": "image is required"}},
		"a required input is empty":            {map[string]string{"image": `""`}, map[string]string{"image": "image must not be empty"}},
		"an optional input is null":            {map[string]string{"replicas": `null`}, nil},
		"an unknown input that is near a name": {map[string]string{"replica": `2`}, map[string]string{"replica": `web-service has no input "replica"; did you mean replicas?`}},
		"an unknown input like none":           {map[string]string{"zzz": `2`}, map[string]string{"zzz": `web-service has no input "zzz"`}},
		"text for a whole number":              {map[string]string{"replicas": `"three"`}, map[string]string{"replicas": `replicas must be a whole number between 1 and 20; it is "three"`}},
		"a fraction for a whole number":        {map[string]string{"replicas": `2.5`}, map[string]string{"replicas": `replicas must be a whole number between 1 and 20; it is 2.5`}},
		"a whole number spelled as a fraction": {map[string]string{"replicas": `2.0`}, nil},
		"a number too large for anything":      {map[string]string{"replicas": `1e400`}, map[string]string{"replicas": `replicas must be a whole number between 1 and 20; it is 1e400`}},
		"too few":                              {map[string]string{"replicas": `0`}, map[string]string{"replicas": `replicas must be a whole number between 1 and 20; it is 0`}},
		"too many":                             {map[string]string{"replicas": `21`}, map[string]string{"replicas": `replicas must be a whole number between 1 and 20; it is 21`}},
		"the default, out of bounds":           {map[string]string{"burst": `0`}, nil},
		"out of bounds and not the default":    {map[string]string{"burst": `-1`}, map[string]string{"burst": `burst must be a whole number of at least 1; it is -1`}},
		"a number over its maximum":            {map[string]string{"ratio": `1.5`}, map[string]string{"ratio": `ratio must be a number of at most 1; it is 1.5`}},
		"text for a truth value":               {map[string]string{"public": `"yes"`}, map[string]string{"public": `public must be true or false; it is "yes"`}},
		"a number for text":                    {map[string]string{"version": `16`}, map[string]string{"version": `version must be text, in quotes; it is 16`}},
		"an object for text":                   {map[string]string{"image": `{"a":"b"}`}, map[string]string{"image": `image must be text; it is an object`}},
		"text that is too long":                {map[string]string{"short": `"äöüäöü"`}, map[string]string{"short": `short must have at most 5 characters; it has 6`}},
		"text in five characters of two bytes": {map[string]string{"short": `"äöüäö"`}, nil},
		"text that does not match":             {map[string]string{"storage": `"10"`}, map[string]string{"storage": `storage must be a size, as in 10Gi; it is "10"`}},
		"text that matches in part":            {map[string]string{"storage": `"x10Gi"`}, map[string]string{"storage": `storage must be a size, as in 10Gi; it is "x10Gi"`}},
		"alternatives match as a whole":        {map[string]string{"code": `"ab"`}, map[string]string{"code": `code must be text that matches a|b; it is "ab"`}},
		"text that is no option":               {map[string]string{"version": `"12"`}, map[string]string{"version": `version must be one of 16 and 17; it is "12"`}},
		"text that could mislead a terminal":   {map[string]string{"version": `"\u001b[31m\u202e"`}, map[string]string{"version": `version must be one of 16 and 17; it is "\x1b[31m\u202e"`}},
		"a secret as a literal":                {map[string]string{"password": `"hunter2"`}, map[string]string{"password": `password is secret: give it by secret config, as in ${password}, never as a literal`}},
		"a secret literal in fn::secret":       {map[string]string{"password": `{"fn::secret":"hunter2"}`}, map[string]string{"password": `password is secret: give it by secret config, as in ${password}, never as a literal`}},
		"a secret literal that is escaped":     {map[string]string{"password": `"$${hunter2}"`}, map[string]string{"password": `password is secret: give it by secret config, as in ${password}, never as a literal`}},
		"a list that is none":                  {map[string]string{"hosts": `"a"`}, map[string]string{"hosts": `hosts must be a list; it is "a"`}},
		"a list with a wrong element":          {map[string]string{"hosts": `["a",1]`}, map[string]string{"hosts[1]": `hosts[1] must be text, in quotes; it is 1`}},
		"an object that is none":               {map[string]string{"env": `["a"]`}, map[string]string{"env": `env must be names with values; it is a list`}},
		"an object with a wrong name":          {map[string]string{"env": `{"log":"x"}`}, map[string]string{"env.log": `a name in env must be capital letters; it is "log"`}},
		"an object with a wrong value":         {map[string]string{"env": `{"PORT":8080}`}, map[string]string{"env.PORT": `env.PORT must be text, in quotes; it is 8080`}},
		"an object with a long value":          {map[string]string{"env": `{"LOG":"abcdef"}`}, map[string]string{"env.LOG": `env.LOG must have at most 5 characters; it has 6`}},
		"expressions are not looked into": {
			inputs: map[string]string{
				"image": `"${registry}/nginx"`, "replicas": `"${replicas}"`, "version": `{"fn::select":[0,["12"]]}`,
				"env": `{"HOST":"${db.host}-long","PORT":"${db.port}"}`, "hosts": `["${a}"]`, "public": `"${public}"`,
			},
		},
		"an escaped expression is a literal": {map[string]string{"storage": `"$${size}"`}, map[string]string{"storage": `storage must be a size, as in 10Gi; it is "$${size}"`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{}
			for _, problem := range goldenpaths.CheckInputs(surface(), properties(test.inputs)) {
				got[problem.Path] = problem.Message
			}
			if test.want == nil {
				test.want = map[string]string{}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// properties are inputs with a valid image, unless the test is about it.
func properties(inputs map[string]string) map[string]apiextensionsv1.JSON {
	given := map[string]apiextensionsv1.JSON{"image": {Raw: []byte(`"nginx"`)}}
	for name, raw := range inputs {
		given[name] = apiextensionsv1.JSON{Raw: []byte(raw)}
	}
	return given
}

func TestCheckInstance(t *testing.T) {
	tests := map[string]struct {
		instance string
		inputs   map[string]string
		want     []v1alpha1.Problem
	}{
		"a name that is fit for objects": {instance: "web"},
		"a name that is not": {
			instance: "Web",
			want:     []v1alpha1.Problem{{Message: `the name of the instance must be small letters; it is "Web"; rename it, or give name`}},
		},
		"a name that is not, with another for the objects": {instance: "Web", inputs: map[string]string{"name": `"web"`}},
		"a name that is not, with an empty one for the objects": {
			instance: "Web", inputs: map[string]string{"name": `""`},
			want: []v1alpha1.Problem{{Message: `the name of the instance must be small letters; it is "Web"; rename it, or give name`}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := goldenpaths.CheckInstance(surface(), test.instance, properties(test.inputs))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzCheckInputs(f *testing.F) {
	f.Add("replicas", `3`)
	f.Add("env", `{"fn::join":["",["${a}"]]}`)
	f.Add("password", `"${"`)
	f.Add(strings.Repeat("x", 300), `[[[`)
	f.Fuzz(func(t *testing.T, name, raw string) {
		problems := goldenpaths.CheckInputs(surface(), map[string]apiextensionsv1.JSON{name: {Raw: []byte(raw)}})
		for _, problem := range problems {
			if problem.Message == "" {
				t.Errorf("%s: a problem without words", problem.Path)
			}
			if strings.ContainsAny(problem.Message, "\x1b\n\u202e") {
				t.Errorf("%q could mislead a terminal", problem.Message)
			}
		}
	})
}
