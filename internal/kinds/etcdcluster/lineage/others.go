// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package lineage

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
)

// Others holds the pods and claims that belong to the cluster before a restore or to an unfinished restore. Their
// members are not members of the current cluster.
type Others struct {
	Pods   []*corev1.Pod
	Claims []*corev1.PersistentVolumeClaim
}

// seeds reports whether a pod or claim of a canceled restore still exists.
func (o Others) seeds(c *etcdv1beta2.EtcdCluster) bool {
	for _, pod := range o.Pods {
		if model.LineageOf(c, pod.Name) == model.OfSeed {
			return true
		}
	}
	for _, claim := range o.Claims {
		if model.LineageOf(c, claim.Name) == model.OfSeed {
			return true
		}
	}
	return false
}

// live reports whether any of the pods is not being deleted.
func (o Others) live() bool {
	return slices.ContainsFunc(o.Pods, func(pod *corev1.Pod) bool { return pod.DeletionTimestamp == nil })
}

// Pod returns the pod with this name; nil if there is none.
func (o Others) Pod(name string) *corev1.Pod {
	for _, pod := range o.Pods {
		if pod.Name == name {
			return pod
		}
	}
	return nil
}

// Claim returns the claim with this name; nil if there is none.
func (o Others) Claim(name string) *corev1.PersistentVolumeClaim {
	for _, claim := range o.Claims {
		if claim.Name == name {
			return claim
		}
	}
	return nil
}

// Names returns the names of all pods and claims, sorted, for a message.
func (o Others) Names() string {
	var out []string
	for _, pod := range o.Pods {
		out = append(out, "pod "+pod.Name)
	}
	for _, claim := range o.Claims {
		out = append(out, "claim "+claim.Name)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
