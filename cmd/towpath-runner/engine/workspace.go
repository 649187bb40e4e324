package engine

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/towpath-dev/towpath/controller/runner"
)

// The files and folders of a workspace.
const (
	kubeconfigFile = "kubeconfig"
	tempDir        = "tmp"
	planFile       = "plan.json"
)

// workDir is the engine's folder in the run's.
func workDir(job *runner.Job) string { return filepath.Join(job.Dir, "workspace") }

// PlanFile is where a plan is saved.
func (e *Engine) PlanFile() string { return filepath.Join(e.dir, planFile) }

// layOut makes the workspace anew, readable by this user alone.
func (e *Engine) layOut(project []byte) error {
	if err := os.RemoveAll(e.dir); err != nil {
		return fmt.Errorf("empty the workspace: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(e.dir, tempDir), 0o700); err != nil {
		return fmt.Errorf("make the workspace: %w", err)
	}
	if err := makeBackend(e.job.Backend); err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		"Pulumi.yaml":  project,
		kubeconfigFile: []byte(e.job.Kubeconfig),
		// The engine would make it readable for everybody.
		planFile: nil,
	} {
		if err := os.WriteFile(filepath.Join(e.dir, name), content, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// makeBackend makes the folder of a state backend on this machine; the engine
// asks for one that exists.
func makeBackend(url string) error {
	folder, local := strings.CutPrefix(url, "file://")
	if !local {
		return nil
	}
	folder, _, _ = strings.Cut(folder, "?")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make the state backend: %w", err)
	}
	return nil
}

// stackFileName is the name of the config file of a stack such as
// organization/orders/dev.
func stackFileName(stack string) string {
	return "Pulumi." + stack[strings.LastIndexByte(stack, '/')+1:] + ".yaml"
}

// Environment is all that the engine and its plugins see of the environment. The
// job's own variables cannot replace the runner's.
func Environment(job *runner.Job, attach string) []string {
	dir := workDir(job)
	env := maps.Clone(job.Env)
	if env == nil {
		env = map[string]string{}
	}
	for name, value := range map[string]string{
		"PATH":                     "/usr/local/bin:/usr/bin:/bin",
		"HOME":                     dir,
		"TMPDIR":                   filepath.Join(dir, tempDir),
		"LANG":                     "C.UTF-8",
		"KUBECONFIG":               filepath.Join(dir, kubeconfigFile),
		runner.RunMarker:           job.RunUID,
		"PULUMI_HOME":              job.PulumiHome,
		"PULUMI_BACKEND_URL":       job.Backend,
		"PULUMI_SKIP_UPDATE_CHECK": "true",
		"PULUMI_DEBUG_PROVIDERS":   attach,
		"PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK":    "true",
		"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
		"PULUMI_SELF_MANAGED_STATE_NO_LEGACY_WARNING": "true",
		"PULUMI_K8S_SUPPRESS_HELM_HOOK_WARNINGS":      "true",
		"PULUMI_SUPPRESS_NEO_LINK":                    "true",
		// The engine and its plugins live for seconds: collecting garbage less
		// often saves a quarter of their time. The limit keeps a large program
		// from growing without bound.
		"GOGC":       "400",
		"GOMEMLIMIT": "1GiB",
	} {
		env[name] = value
	}
	list := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}
