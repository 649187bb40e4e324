package run

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	pulumiv1 "github.com/towpath-dev/towpath/controller/api/pulumi/v1"
	v1alpha1 "github.com/towpath-dev/towpath/controller/api/v1alpha1"
	"github.com/towpath-dev/towpath/controller/program"
	"github.com/towpath-dev/towpath/controller/runner"
	goldenpaths "github.com/towpath-dev/towpath/golden-paths"
	"github.com/towpath-dev/towpath/internal/fault"
)

// tokenSeconds is how long a run's credentials hold; longer than any operation
// should take, short enough to be worthless soon.
const tokenSeconds = 2 * 60 * 60

// Jobs turns Runs into runner jobs: it reads the snapshot, the golden paths and
// the referenced Secrets, and asks for a token of the run's identity. A
// *fault.Error from it is for people: the run cannot start as it stands.
type Jobs struct {
	// Client reads past the cache, so that a job uses what is there now.
	Client client.Client
	// Cluster is the API server that runs talk to.
	Cluster *rest.Config
	// DigestKey keys the HMAC of secrets in digests.
	DigestKey []byte
	// Blobs has the whole plans of earlier runs.
	Blobs *blob.Bucket
	// Toolchain holds pulumi and pulumi-language-yaml, PulumiHome the providers.
	Toolchain, PulumiHome string
}

// Build returns the job of a run.
func (j *Jobs) Build(ctx context.Context, run *v1alpha1.Run) (runner.Job, error) {
	job := runner.Job{
		RunUID: string(run.UID), Namespace: run.Namespace, Name: run.Name,
		Operation: run.Spec.Operation, ProjectName: run.Spec.Service,
		Stack: run.Spec.Stack.Stack, Backend: run.Spec.Stack.Backend, SecretsProvider: run.Spec.Stack.SecretsProvider,
		Config: map[string]json.RawMessage{}, Secrets: map[string]string{}, Env: map[string]string{},
		Inputs: maps.Clone(run.Spec.Inputs), Approved: run.Spec.Approved, DigestKey: j.DigestKey,
		PulumiHome: j.PulumiHome, Toolchain: j.Toolchain,
	}
	for _, part := range []func(context.Context, *v1alpha1.Run, *runner.Job) error{j.project, j.goldenPaths, j.config, j.environment, j.identity, j.approved} {
		if err := part(ctx, run, &job); err != nil {
			return runner.Job{}, fmt.Errorf("build the job of run %s/%s: %w", run.Namespace, run.Name, err)
		}
	}
	return job, nil
}

func (j *Jobs) project(ctx context.Context, run *v1alpha1.Run, job *runner.Job) error {
	var snapshot appsv1.ControllerRevision
	if err := j.Client.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: run.Spec.Snapshot}, &snapshot); err != nil {
		if apierrors.IsNotFound(err) {
			return fault.New(fault.NotFound, err, "The snapshot %s of the Program is gone; propose the change again.", run.Spec.Snapshot)
		}
		return fmt.Errorf("read snapshot %q: %w", run.Spec.Snapshot, err)
	}
	var spec pulumiv1.ProgramSpec
	if err := json.Unmarshal(snapshot.Data.Raw, &spec); err != nil {
		return fmt.Errorf("decode snapshot %q: %w", run.Spec.Snapshot, err)
	}
	if program.SnapshotName(run.Spec.Service, spec) != run.Spec.Snapshot {
		return fault.New(fault.Conflict, nil, "The snapshot %s does not hold the Program it is named after; nothing was run. Propose the change again.", run.Spec.Snapshot)
	}
	text, err := program.ProjectFile(run.Spec.Service, spec)
	job.Project = string(text)
	return err
}

func (j *Jobs) goldenPaths(ctx context.Context, run *v1alpha1.Run, job *runner.Job) error {
	for _, pin := range run.Spec.GoldenPaths {
		var version v1alpha1.GoldenPathVersion
		name := pin.Name + "-" + pin.Version
		if err := j.Client.Get(ctx, client.ObjectKey{Name: name}, &version); err != nil {
			if apierrors.IsNotFound(err) {
				return fault.New(fault.NotFound, err, "Golden path %s %s is no longer in the catalogue.", pin.Name, pin.Version)
			}
			return fmt.Errorf("read golden path version %q: %w", name, err)
		}
		spec := version.Spec
		if digest := goldenpaths.Digest(spec.Token, spec.Component, spec.Inputs); digest != pin.Digest || spec.Digest != pin.Digest {
			return fault.New(fault.Conflict, nil, "Golden path %s %s is not what it was when the change was proposed; nothing was run. Propose the change again.", pin.Name, pin.Version)
		}
		job.GoldenPaths = append(job.GoldenPaths, runner.HostedGoldenPath{
			Name: pin.Name, Version: pin.Version, Digest: pin.Digest, Token: spec.Token, Component: spec.Component,
		})
	}
	return nil
}

func (j *Jobs) config(ctx context.Context, run *v1alpha1.Run, job *runner.Job) error {
	for key, value := range run.Spec.Stack.Config {
		job.Config[key] = json.RawMessage(value.Raw)
	}
	for key, ref := range run.Spec.Stack.ConfigRef {
		var configMap corev1.ConfigMap
		if err := j.Client.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: ref.Name}, &configMap); err != nil {
			return missing(err, "ConfigMap", run.Namespace, ref.Name)
		}
		text, ok := configMap.Data[ref.Key]
		if !ok {
			return fault.New(fault.NotFound, nil, "ConfigMap %s/%s has no key %q, which config %s refers to.", run.Namespace, ref.Name, ref.Key, key)
		}
		if !ref.JSON {
			encoded, err := json.Marshal(text)
			if err != nil {
				return fmt.Errorf("encode config %q: %w", key, err)
			}
			text = string(encoded)
		}
		if !json.Valid([]byte(text)) {
			return fault.New(fault.Invalid, nil, "Key %q of ConfigMap %s/%s is no JSON, which config %s asks for.", ref.Key, run.Namespace, ref.Name, key)
		}
		job.Config[key] = json.RawMessage(text)
	}
	maps.Copy(job.Secrets, run.Spec.Stack.Secrets)
	for key, ref := range run.Spec.Stack.SecretsRef {
		value, err := j.resolve(ctx, run.Namespace, "secret config "+key, ref)
		if err != nil {
			return err
		}
		job.Secrets[key] = value
	}
	return nil
}

func (j *Jobs) environment(ctx context.Context, run *v1alpha1.Run, job *runner.Job) error {
	for key, ref := range run.Spec.Stack.EnvRefs {
		value, err := j.resolve(ctx, run.Namespace, "environment variable "+key, ref)
		if err != nil {
			return err
		}
		job.Env[key] = value
	}
	return nil
}

// resolve reads a reference. Only literals and Secrets of the Stack's own
// namespace are read: anything else would reach over a tenant's border.
func (j *Jobs) resolve(ctx context.Context, namespace, what string, ref pulumiv1.ResourceRef) (string, error) {
	switch {
	case ref.Type == pulumiv1.RefLiteral && ref.Literal != nil:
		return ref.Literal.Value, nil
	case ref.Type == pulumiv1.RefSecret && ref.Secret != nil:
	default:
		return "", fault.New(fault.Invalid, nil, "The reference of %s is of type %q; use Secret or Literal with its value.", what, ref.Type)
	}
	if ref.Secret.Namespace != "" && ref.Secret.Namespace != namespace {
		return "", fault.New(fault.Forbidden, nil, "%s refers to a Secret in namespace %s; only %s itself is allowed.", what, ref.Secret.Namespace, namespace)
	}
	var secret corev1.Secret
	if err := j.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Secret.Name}, &secret); err != nil {
		return "", missing(err, "Secret", namespace, ref.Secret.Name)
	}
	value, ok := secret.Data[ref.Secret.Key]
	if !ok {
		return "", fault.New(fault.NotFound, nil, "Secret %s/%s has no key %q, which %s refers to.", namespace, ref.Secret.Name, ref.Secret.Key, what)
	}
	return string(value), nil
}

// approved adds the whole plan that was signed, so that the runner can say in
// words what differs from it. It decides by the digests: without the plan it only
// says less.
func (j *Jobs) approved(ctx context.Context, run *v1alpha1.Run, job *runner.Job) error {
	if run.Spec.Approved == nil {
		return nil
	}
	var preview v1alpha1.Run
	err := j.Client.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: run.Spec.Approved.Preview}, &preview)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read run %q: %w", run.Spec.Approved.Preview, err)
	}
	if preview.Status.Artefacts.Plan == "" {
		return nil
	}
	text, err := j.Blobs.ReadAll(ctx, preview.Status.Artefacts.Plan)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the plan of run %q: %w", preview.Name, err)
	}
	var whole wholePlan
	if err := json.Unmarshal(text, &whole); err != nil {
		return fmt.Errorf("read the plan of run %q: %w", preview.Name, err)
	}
	job.ApprovedSteps, job.ApprovedState = whole.Steps, whole.State
	return nil
}

func missing(err error, kind, namespace, name string) error {
	if apierrors.IsNotFound(err) {
		return fault.New(fault.NotFound, err, "%s %s/%s does not exist; create it.", kind, namespace, name)
	}
	return fmt.Errorf("read %s %s/%s: %w", strings.ToLower(kind), namespace, name, err)
}

// identity gives the job a kubeconfig with a short-lived token of its service
// account.
func (j *Jobs) identity(ctx context.Context, run *v1alpha1.Run, job *runner.Job) error {
	name := run.Spec.ServiceAccountName
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: name}}
	seconds := int64(tokenSeconds)
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	if err := j.Client.SubResource("token").Create(ctx, account, token); err != nil {
		return missing(err, "ServiceAccount", run.Namespace, name)
	}
	cluster := clientcmdapi.NewCluster()
	cluster.Server = j.Cluster.Host
	cluster.CertificateAuthorityData = j.Cluster.CAData
	if len(j.Cluster.CAData) == 0 && j.Cluster.CAFile != "" {
		file, err := filepath.Abs(j.Cluster.CAFile)
		if err != nil {
			return fmt.Errorf("find the cluster's CA: %w", err)
		}
		cluster.CertificateAuthority = file
	}
	user := clientcmdapi.NewAuthInfo()
	user.Token = token.Status.Token
	contextEntry := clientcmdapi.NewContext()
	contextEntry.Cluster, contextEntry.AuthInfo, contextEntry.Namespace = "cluster", name, run.Namespace
	config := clientcmdapi.NewConfig()
	config.Clusters["cluster"], config.AuthInfos[name], config.Contexts["run"] = cluster, user, contextEntry
	config.CurrentContext = "run"
	text, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("write the kubeconfig of service account %q: %w", name, err)
	}
	job.Kubeconfig = string(text)
	return nil
}
