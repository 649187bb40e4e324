package dev

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/deploy"
	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
)

// publish puts the built-in golden paths into the catalogue. A version that is
// there already never changes; if the built-in one does, it says so.
func (s *session) publish(ctx context.Context, applier *deploy.Applier) error {
	versions, err := goldenpaths.Builtin()
	if err != nil {
		return fmt.Errorf("read the built-in golden paths: %w", err)
	}
	for _, v := range versions {
		path, err := untyped(&v.GoldenPath)
		if err != nil {
			return err
		}
		if _, err := applier.Apply(ctx, path); err != nil {
			return err
		}
		version, err := untyped(&v.Version)
		if err != nil {
			return err
		}
		created, err := applier.CreateMissing(ctx, version)
		if err != nil {
			return err
		}
		if created {
			continue
		}
		stored, err := applier.Get(ctx, version)
		if err != nil {
			return err
		}
		var published v1alpha1.GoldenPathVersion
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, &published); err != nil {
			return fmt.Errorf("read golden path version %q: %w", version.GetName(), err)
		}
		if published.Spec.Digest != v.Version.Spec.Digest {
			s.say("Golden path %s is published here with other content than the one in this program, which is therefore not used: give it a new version.", version.GetName())
		}
	}
	return nil
}
