package controlplane

import (
	_ "embed"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	node "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	heartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	pod "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
)

const (
	nodeName         = "simulated"
	storageClassName = "standard"
	provisioner      = "towpath.dev/simulated"
)

// volumeStages let a claim of the simulated storage class get a volume. kwok
// only provides and removes the volume; binding is the controller manager's.
//
//go:embed stages/volume.yaml
var volumeStages string

// writeStages writes what kwok simulates into a file and returns its path.
func (c *ControlPlane) writeStages() (string, error) {
	stages := strings.Join([]string{
		node.DefaultNodeInit,
		heartbeat.DefaultNodeHeartbeatWithLease,
		pod.DefaultPodReady,
		pod.DefaultPodComplete,
		pod.DefaultPodDelete,
		volumeStages,
	}, "\n---\n")
	path := filepath.Join(c.config.Dir, "kwok.yaml")
	return path, replaceFile(path, []byte(stages))
}

func simulatedNode() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: nodeName,
		Labels: map[string]string{
			corev1.LabelHostname:              nodeName,
			corev1.LabelOSStable:              "linux",
			corev1.LabelArchStable:            "amd64",
			"node.kubernetes.io/simulated-by": "kwok",
		},
	}}
}

func simulatedStorageClass() *storagev1.StorageClass {
	reclaim, binding := corev1.PersistentVolumeReclaimDelete, storagev1.VolumeBindingImmediate
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        storageClassName,
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner:       provisioner,
		ReclaimPolicy:     &reclaim,
		VolumeBindingMode: &binding,
	}
}
