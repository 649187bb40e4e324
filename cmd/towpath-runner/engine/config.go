package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/config"
	"github.com/pulumi/pulumi/sdk/v3/go/common/workspace"
	"go.yaml.in/yaml/v3"

	"github.com/towpath-dev/towpath/controller/runner"
)

// clientSettings raises the Kubernetes provider's rate limit: with its default a
// large program waits for the limiter most of the time.
const (
	clientSettingsKey = "kubernetes:kubeClientSettings"
	clientSettings    = `{"burst":4000,"qps":2000}`
)

// StackFile makes Pulumi.<stack>.yaml: the job's config, secrets encrypted.
func StackFile(ctx context.Context, job *runner.Job, secrets *Secrets) ([]byte, error) {
	values := config.Map{}
	for _, name := range slices.Sorted(maps.Keys(job.Config)) {
		key, err := configKey(job.ProjectName, name)
		if err != nil {
			return nil, err
		}
		value, err := plainValue(job.Config[name])
		if err != nil {
			return nil, fmt.Errorf("config %s: %w", name, err)
		}
		values[key] = value
	}
	for _, name := range slices.Sorted(maps.Keys(job.Secrets)) {
		key, err := configKey(job.ProjectName, name)
		if err != nil {
			return nil, err
		}
		if _, both := values[key]; both {
			return nil, fmt.Errorf("config %s is given both as plain and as secret config", name)
		}
		ciphertext, err := secrets.Encrypt(ctx, job.Secrets[name])
		if err != nil {
			return nil, fmt.Errorf("encrypt config %s: %w", name, err)
		}
		values[key] = config.NewSecureValue(ciphertext)
	}
	if settings := config.MustParseKey(clientSettingsKey); !has(values, settings) {
		values[settings] = config.NewObjectValue(clientSettings)
	}
	file, err := yaml.Marshal(workspace.ProjectStack{EncryptionSalt: secrets.State(), Config: values})
	if err != nil {
		return nil, fmt.Errorf("write stack config: %w", err)
	}
	return file, nil
}

func has(values config.Map, key config.Key) bool {
	_, ok := values[key]
	return ok
}

// configKey gives a key without a namespace the project's.
func configKey(project, name string) (config.Key, error) {
	full := name
	if !strings.Contains(name, ":") {
		full = project + ":" + name
	}
	key, err := config.ParseKey(full)
	if err != nil || key.Namespace() == "" || key.Name() == "" || strings.Contains(key.Name(), ":") {
		return config.Key{}, fmt.Errorf("config key %q is neither <name> nor <package>:<name>", name)
	}
	return key, nil
}

// plainValue keeps objects and lists as structure; everything else is the text
// that `pulumi config set` would store.
func plainValue(value json.RawMessage) (config.Value, error) {
	if isJSONObjectOrList(value) {
		var compact bytes.Buffer
		if err := json.Compact(&compact, value); err != nil {
			return config.Value{}, fmt.Errorf("read JSON: %w", err)
		}
		return config.NewObjectValue(compact.String()), nil
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	var scalar any
	if err := decoder.Decode(&scalar); err != nil {
		return config.Value{}, fmt.Errorf("read JSON: %w", err)
	}
	if scalar == nil {
		return config.NewValue(""), nil
	}
	return config.NewValue(fmt.Sprint(scalar)), nil
}
