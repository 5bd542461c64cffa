// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build fields

package fields

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// snapshot holds the pods of a namespace at one moment, by UID. It leaves out pods that are being deleted, and pods that
// end by themselves, such as that of a backup.
type snapshot map[types.UID]corev1.Pod

func (t *trial) snap(ctx context.Context) (snapshot, error) {
	list := &corev1.PodList{}
	if err := env.Client.List(ctx, list, client.InNamespace(t.namespace)); err != nil {
		return nil, err
	}
	out := snapshot{}
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil && pod.Spec.RestartPolicy == corev1.RestartPolicyAlways {
			out[pod.UID] = pod
		}
	}
	return out, nil
}

// keptIn returns an error unless all pods of the snapshot still exist in a later one.
func (s snapshot) keptIn(later snapshot) error {
	for uid, pod := range s {
		if _, kept := later[uid]; !kept {
			return fmt.Errorf("a live edit must keep the pods, but %s is gone", pod.Name)
		}
	}
	return nil
}

// replacedIn returns an error unless the pods that match the selector have been replaced in a later snapshot. All other
// pods must still exist.
func (s snapshot) replacedIn(later snapshot, selector string) error {
	chosen, err := labels.Parse(selector)
	if err != nil {
		return err
	}
	replaced, rest := 0, snapshot{}
	for uid, pod := range s {
		if !chosen.Matches(labels.Set(pod.Labels)) {
			rest[uid] = pod
			continue
		}
		replaced++
		if _, kept := later[uid]; kept {
			return fmt.Errorf("a rollout must replace the pods, but %s still exists", pod.Name)
		}
	}
	if replaced == 0 || len(later) <= len(rest) {
		return fmt.Errorf("a rollout must replace all pods: there were %d before, and there are %d new ones", replaced, len(later)-len(rest))
	}
	return rest.keptIn(later)
}
