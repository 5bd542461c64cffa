// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// storageField is where users write how large volumes are to be.
const storageField = "spec.pod.persistentVolumeClaimSpec.resources.requests.storage"

// volumeSize is how large the volume of each member is to be.
func volumeSize(c *etcdv1beta2.EtcdCluster) resource.Quantity {
	return c.Spec.Pod.PersistentVolumeClaimSpec.Resources.Requests[corev1.ResourceStorage]
}

// observeVolumes collects the claims that are to have the size of the spec, and reads the classes of those that are too
// small. The claim of a member that is to be replaced stays as it is: its successor has a new one.
func (r *reconciler) observeVolumes(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	if !persistent(c) {
		return nil
	}
	f.volumes = workload.Volumes{Wanted: volumeSize(c), Patched: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(f.claims)) {
		claim := f.claims[name]
		if claim.DeletionTimestamp != nil || claimDiffers(c, claim) != "" {
			continue
		}
		f.volumes.Claims = append(f.volumes.Claims, claim)
		f.volumes.Patched[name] = r.Writes().Behind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), claim)
	}
	f.volumes.Rigid, f.volumes.Unread = r.classes.Rigid(ctx, f.volumes.SmallClasses())
	return nil
}

// resizeVolumes are the patches that give volumes the size of the spec. Nothing else waits for them.
func (f facts) resizeVolumes() []kit.Patch {
	return slices.Concat(f.volumes.Growth(), f.volumes.Withdrawn())
}

// aboutVolumes says which volumes do not have the size of the spec; both are empty where all do. Members serve all the
// same, so that it is a note to Ready and no obstacle.
func (f facts) aboutVolumes() (reason, message string) {
	growing, have := f.volumes.Growing()
	switch stuck, larger := f.volumes.Stuck(), f.volumes.Larger(); {
	case stuck != "":
		return etcdv1beta2.ReasonVolumesFixed, fmt.Sprintf("%s; else set %s to what the volumes have, or name a class that lets them grow", stuck, storageField)
	case larger != nil:
		asks := workload.Asked(larger)
		return etcdv1beta2.ReasonVolumesFixed, fmt.Sprintf("claim %s asks for %s and not %s, and volumes never shrink: set %s to %s, or move the data to a new cluster",
			larger.Name, asks.String(), f.volumes.Wanted.String(), storageField, asks.String())
	case growing != "":
		return etcdv1beta2.ReasonVolumesGrowing, fmt.Sprintf("%d of %d volumes have their size; %s", have, len(f.volumes.Bound()), growing)
	}
	return "", ""
}

// replaces says which claim has its member replaced, and how that goes on; "" where none has.
func (f facts) replaces(c *etcdv1beta2.EtcdCluster, d decision) string {
	i := slices.IndexFunc(d.members, func(m member) bool { return m.claimDiffers != "" })
	switch {
	case i < 0:
		return ""
	case asleep(c):
		return "; " + d.members[i].claimDiffers + ": members are replaced one at a time once spec.hibernate is false"
	case f.paused:
		return "; " + d.members[i].claimDiffers + ": members are replaced one at a time once the cluster is not paused (spec.paused, annotation " + common.PausedAnnotation + ")"
	}
	return "; " + d.members[i].claimDiffers + ": members are replaced one at a time, each by a new one on a new claim"
}
