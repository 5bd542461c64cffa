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
	"github.com/opcrew/opcrew/internal/kinds/diva/build"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
	"github.com/opcrew/opcrew/internal/kinds/diva/rotation"
	"github.com/opcrew/opcrew/internal/kinds/diva/served"
	"github.com/opcrew/opcrew/internal/kinds/diva/storage"
	"github.com/opcrew/opcrew/internal/workload"
)

// rotationInput returns the input for the rotation of keys, taken from the facts.
func rotationInput(d *opsv1.Diva, f facts, now time.Time) rotation.Input {
	return rotation.Input{
		Ring: f.ring, Given: f.given, Fresh: f.fresh.pair, Seed: leftSeed(f), Shared: leftShared(f), Now: now,
		Pods: rotation.Pods{
			Clients:  servingPods(d, boundClients(f.clients), f.serving),
			Managers: servingPods(d, boundManagers(f.manager), f.serving),
			Known:    knownClients(d, f), Sharing: sharing(d, f.clients),
		},
	}
}

// leftSeed returns the seed for host keys (random bytes) that one of the Secrets still holds, or else a fresh seed.
func leftSeed(f facts) string {
	for _, secret := range []*corev1.Secret{f.secret, f.server} {
		if secret == nil {
			continue
		}
		if seed := keys.ParseSeed(secret.Data[ring.HostSeed]); seed != "" {
			return seed
		}
	}
	return f.fresh.seed
}

// leftShared returns the shared host key pair if the Secret still holds it although the login key pair was lost, or
// else a fresh pair.
func leftShared(f facts) *keys.Pair {
	if f.secret != nil {
		if left, _ := keys.Parse(string(f.secret.Data[ring.HostKey])); left != nil {
			return left
		}
	}
	return f.fresh.host
}

// sharing reports whether client pods of earlier versions of opcrew, which share one host key, exist or may still be
// started.
func sharing(d *opsv1.Diva, clients workload.Members) bool {
	if clients.Set != nil && build.SharesHostKey(d, clients.Set.Spec.Template.Spec) {
		return true
	}
	for _, pod := range clients.Pods {
		if build.SharesHostKey(d, pod.Spec) {
			return true
		}
	}
	return false
}

// knownClients returns the client pods whose host keys the manager pods must know: all client pods that their inventory
// lists or that still run.
func knownClients(d *opsv1.Diva, f facts) []string {
	return names.Clients(d).Names(replicas(d.Spec.Client.Replicas, f.clients.Replicas(), f.inventory == build.Hosts(d)))
}

// wantedDigest returns a function that computes the digest of the SSH files that a pod should serve.
func wantedDigest(d *opsv1.Diva, f facts) func(*corev1.Pod) string {
	manager := rotation.ManagerDigest(d, f.ring, knownClients(d, f))
	return func(pod *corev1.Pod) string {
		if served.Role(pod) == ring.Manager {
			return manager
		}
		return rotation.ClientDigest(d, f.ring, hostOf(d, pod))
	}
}

func hostOf(d *opsv1.Diva, pod *corev1.Pod) ring.Host {
	return ring.Host{Name: pod.Name, Shared: build.SharesHostKey(d, pod.Spec)}
}

func servingPods(d *opsv1.Diva, pods []*corev1.Pod, digests map[string]string) []rotation.Pod {
	var out []rotation.Pod
	for _, pod := range pods {
		out = append(out, rotation.Pod{Name: pod.Name, Serves: digests[string(pod.UID)], Shared: build.SharesHostKey(d, pod.Spec)})
	}
	return out
}

// storageInput returns the input for the decision about claims, taken from the facts.
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

// templateSize returns the size in the claim template of a StatefulSet; nil if there is no template.
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
