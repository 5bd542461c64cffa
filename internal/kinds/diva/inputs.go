// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"cmp"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
	"github.com/opcrew/opcrew/internal/kinds/diva/rotation"
	"github.com/opcrew/opcrew/internal/kinds/diva/storage"
	"github.com/opcrew/opcrew/internal/workload"
)

// rotationInput returns the facts that the rotation of keys needs.
func rotationInput(f facts, now time.Time) rotation.Input {
	in := rotation.Input{
		Ring: f.ring, Given: f.given, Fresh: f.fresh.pair, Host: f.fresh.host, Now: now,
		Pods: rotation.Pods{
			Clients:  servingPods(boundClients(f.clients), f.serving),
			Managers: servingPods(boundManagers(f.manager), f.serving),
		},
	}
	if f.ring == nil && f.secret != nil { // only the key pair in the Secret was lost
		if left, _ := keys.Parse(string(f.secret.Data[ring.HostKey])); left != nil {
			in.Host = left
		}
	}
	return in
}

func servingPods(pods []*corev1.Pod, digests map[string]string) []rotation.Pod {
	var out []rotation.Pod
	for _, pod := range pods {
		out = append(out, rotation.Pod{Name: pod.Name, Serves: digests[string(pod.UID)]})
	}
	return out
}

// storageInput returns the facts that the decision about claims needs.
func storageInput(d *opsv1.Diva, f facts, now time.Time) storage.Input {
	return storage.Input{
		Diva: d, Claims: f.claims, Stale: f.stale, OwnSizes: f.ownSizes, Rigid: f.rigid,
		Template: templateSize(f.clients.Set), Users: claimUsers(d, f.clients, f.manager), Unbound: f.unbound.Words, Now: now,
	}
}

// claimUsers maps the names of claims to the pods that use them.
func claimUsers(d *opsv1.Diva, clients workload.Members, manager workload.Rollout) map[string]string {
	out := map[string]string{}
	for name, pod := range clients.Pods {
		out[names.ClaimTemplate+"-"+name] = pod.Name
	}
	if managers := boundManagers(manager); len(managers) > 0 {
		out[names.Managers(d).Name], out[names.ExtraClaim(d)] = managers[0].Name, managers[0].Name
	}
	return out
}

// templateSize returns the size in a StatefulSet's claim template; nil if there is none.
func templateSize(set *appsv1.StatefulSet) *resource.Quantity {
	if set == nil || len(set.Spec.VolumeClaimTemplates) == 0 {
		return nil
	}
	size := workload.Requested(&set.Spec.VolumeClaimTemplates[0])
	return &size
}

func boundClients(m workload.Members) []*corev1.Pod {
	return workload.Bound(slices.SortedFunc(maps.Values(m.Pods), byName))
}

func boundManagers(r workload.Rollout) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range r.Pods {
		out = append(out, &r.Pods[i])
	}
	return workload.Bound(out)
}

func byName(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) }
