// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// A volume on the disk of a node goes with that node; one on the network does not, and its member comes back
// elsewhere. Which of the two it is, only the volume itself tells; and a machine that is only started again, as
// by those who mend nodes, may be back in minutes with its disk. So a member is stranded when its pod has been
// recreated, could not be placed for as long as a node may be silent, and all nodes that have its volume are gone.

// stranded reports that the volume of a member went with its node; empty: it may be used yet.
func (f facts) stranded(c *etcdv1beta2.EtcdCluster, m member) string {
	since := unplacedSince(m.pod)
	if since.IsZero() || f.now.Sub(since) < healing(c) || !f.homeless(m.name) {
		return ""
	}
	return fmt.Sprintf("its volume is on node %s, which is gone or out of service, and its pod could not be placed since %s",
		strings.Join(f.homes[m.name], ", "), since.UTC().Format(time.RFC3339))
}

// homeless reports whether the volume of a member is on disks of nodes, all of which are gone or out of service.
func (f facts) homeless(name string) bool {
	homes := f.homes[name]
	return len(homes) > 0 && !slices.ContainsFunc(homes, func(host string) bool {
		n, there := f.hosts[host]
		return there && !n.outOfService
	})
}

// unplacedSince is since when the scheduler finds no place for a pod; zero: it has one, or no one has tried.
func unplacedSince(pod *corev1.Pod) time.Time {
	if pod == nil || pod.DeletionTimestamp != nil || pod.Spec.NodeName != "" {
		return time.Time{}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// homesOf are the host names of the only nodes that a volume can be used on; none: it is not bound to nodes.
func homesOf(volume *corev1.PersistentVolume) []string {
	if volume.Spec.NodeAffinity == nil || volume.Spec.NodeAffinity.Required == nil {
		return nil
	}
	var out []string
	for _, term := range volume.Spec.NodeAffinity.Required.NodeSelectorTerms {
		i := slices.IndexFunc(term.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool {
			return r.Key == corev1.LabelHostname && r.Operator == corev1.NodeSelectorOpIn
		})
		if i < 0 {
			return nil // by this term it can be used elsewhere, too
		}
		out = append(out, term.MatchExpressions[i].Values...)
	}
	return out
}

// observeHomes reads where the volumes of members are whose pods cannot be placed, and why one has none.
func (r *reconciler) observeHomes(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	var pods []*corev1.Pod
	for _, name := range slices.Sorted(maps.Keys(f.pods)) {
		pods = append(pods, f.pods[name])
	}
	told := meta.FindStatusCondition(c.Status.Conditions, etcdv1beta2.EtcdClusterMembersReady)
	known := told != nil && told.Reason == etcdv1beta2.ReasonMemberNotReady
	claimOf := func(pod *corev1.Pod) *corev1.PersistentVolumeClaim { return f.claims[pod.Name] }
	f.unbound = r.unbound.Why(ctx, client.ObjectKeyFromObject(c), pods, claimOf, known)
	for name, pod := range f.pods {
		if err := r.readHomes(ctx, r.Client, f, member{name: name, pod: pod, claim: f.claims[name]}); err != nil {
			return err
		}
	}
	return nil
}

// readHomes reads that of one, and the nodes by anyone who is asked for them.
func (r *reconciler) readHomes(ctx context.Context, reader client.Reader, f *facts, m member) error {
	if unplacedSince(m.pod).IsZero() || m.claim == nil || m.claim.Spec.VolumeName == "" {
		return nil
	}
	volume := &corev1.PersistentVolume{}
	if found, err := r.found(ctx, client.ObjectKey{Name: m.claim.Spec.VolumeName}, volume); err != nil || !found {
		return err
	}
	if f.homes == nil {
		f.homes, f.hosts = map[string][]string{}, map[string]node{}
	}
	f.homes[m.name] = homesOf(volume)
	for _, host := range f.homes[m.name] {
		list := &corev1.NodeList{}
		if err := reader.List(ctx, list, client.MatchingLabels{corev1.LabelHostname: host}); err != nil {
			return fmt.Errorf("list the nodes called %s: %w", host, err)
		}
		for i := range list.Items {
			f.hosts[host] = nodeOf(&list.Items[i])
		}
	}
	return nil
}
