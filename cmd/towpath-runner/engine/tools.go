package engine

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/blang/semver"
)

// Tools are the versions of what runs, by name.
type Tools map[string]string

// cliVersion is what the runner is written for; a CLI that does not tell its
// version is taken for it.
const cliVersion = "3.219.0"

// FindTools reads the versions of the toolchain and of the plugins in
// PULUMI_HOME. It starts nothing: Go programs carry the versions of the modules
// that they are built from.
func FindTools(toolchain, pulumiHome string) (Tools, error) {
	tools := Tools{}
	for _, tool := range []struct{ program, module string }{
		{"pulumi", "github.com/pulumi/pulumi/pkg/v3"},
		{"pulumi-language-yaml", "github.com/pulumi/pulumi-yaml"},
	} {
		info, err := buildinfo.ReadFile(filepath.Join(toolchain, tool.program))
		if err != nil {
			return nil, fmt.Errorf("find %s in the toolchain: %w", tool.program, err)
		}
		tools[tool.program] = moduleVersion(info, tool.module)
	}
	plugins, err := os.ReadDir(filepath.Join(pulumiHome, "plugins"))
	if err != nil {
		return nil, fmt.Errorf("list the plugins of %s: %w", pulumiHome, err)
	}
	for _, plugin := range plugins {
		if match := pluginDir.FindStringSubmatch(plugin.Name()); match != nil && plugin.IsDir() {
			tools[match[1]] = match[2]
		}
	}
	if self, ok := debug.ReadBuildInfo(); ok {
		tools["runner"] = self.Main.Version
		tools["golden-path-host"] = moduleVersion(self, "github.com/pulumi/pulumi-yaml")
	}
	return tools, nil
}

var pluginDir = regexp.MustCompile(`^(resource-[a-z0-9-]+)-v(\d+\.\d+\.\d+\S*)$`)

func moduleVersion(info *debug.BuildInfo, module string) string {
	if info.Main.Path == module {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	for _, dep := range info.Deps {
		if dep.Path == module {
			return strings.TrimPrefix(dep.Version, "v")
		}
	}
	return "unknown"
}

func (t Tools) pulumi() semver.Version {
	version, err := semver.ParseTolerant(t["pulumi"])
	if err != nil {
		return semver.MustParse(cliVersion)
	}
	return version
}
