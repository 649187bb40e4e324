package program

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
)

func TestValidateConfig(t *testing.T) {
	spec := read(t, `
configuration:
  replicas: {type: Number, default: 2}
  region: {type: String, default: eu}
  ports: {type: List<Number>, default: []}
  hosts: {type: List<String>, default: []}
  free: {default: {}}
  token: {type: String}`)
	type config = map[string]apiextensionsv1.JSON
	type secrets = map[string]v1alpha1.SecretKeyRef
	token := secrets{"token": {Name: "orders", Key: "token"}}
	const declares = "it declares free, hosts, ports, region, replicas, token."
	for name, test := range map[string]struct {
		config  config
		secrets secrets
		known   map[string]bool
		want    []v1alpha1.Problem
	}{
		"defaults and a secret":               {nil, token, nil, nil},
		"a value that the Stack has already":  {nil, nil, map[string]bool{"token": true}, nil},
		"a value in plain":                    {config{"token": value(`"x"`)}, nil, nil, nil},
		"no value and no default":             {nil, nil, nil, problem("environments.dev.config", "token has no value here and the Program gives no default: set it in config, or in secretsRef if it is secret.")},
		"a text for a number":                 {config{"replicas": value(`"3"`)}, token, nil, problem("environments.dev.config.replicas", `replicas must be a number; it is "3".`)},
		"a number for a text":                 {config{"region": value(`3`)}, token, nil, problem("environments.dev.config.region", `region must be a text; it is 3.`)},
		"a text for a list":                   {config{"hosts": value(`"a"`)}, token, nil, problem("environments.dev.config.hosts", `hosts must be a list of texts; it is "a".`)},
		"a mixed list":                        {config{"ports": value(`[80,"81"]`)}, token, nil, problem("environments.dev.config.ports", `ports must be a list of numbers; it is [80,"81"].`)},
		"lists that fit":                      {config{"ports": value(`[80]`), "hosts": value(`["a"]`)}, token, nil, nil},
		"without a type anything fits":        {config{"free": value(`{"a":[1]}`)}, token, nil, nil},
		"a setting that is not declared":      {config{"zone": value(`"a"`)}, token, nil, problem("environments.dev.config.zone", `The Program declares no configuration "zone"; `+declares)},
		"a secret that is not declared":       {nil, secrets{"token": token["token"], "zone": {}}, nil, problem("environments.dev.secretsRef.zone", `The Program declares no configuration "zone"; `+declares)},
		"a value given twice":                 {config{"token": value(`"x"`)}, token, nil, problem("environments.dev.secretsRef.token", "token has a plain value as well; give it once.")},
		"config of a provider":                {config{"kubernetes:namespace": value(`"kube-system"`)}, token, nil, problem("environments.dev.config.kubernetes:namespace", `"kubernetes:namespace" is config of a provider, which is for the environment to say.`)},
		"config of a provider, as a secret":   {nil, secrets{"token": token["token"], "kubernetes:kubeconfig": {}}, nil, problem("environments.dev.secretsRef.kubernetes:kubeconfig", `The Program declares no configuration "kubernetes:kubeconfig"; `+declares)},
		"nothing at all in place of a number": {config{"replicas": value(`null`)}, token, nil, problem("environments.dev.config.replicas", "replicas must be a number; it is null.")},
	} {
		t.Run(name, func(t *testing.T) {
			proposal := v1alpha1.EnvironmentProposal{Name: "dev", Config: test.config, SecretsRef: test.secrets}
			if diff := cmp.Diff(test.want, ValidateConfig(spec, proposal, test.known)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
