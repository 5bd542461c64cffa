// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
)

// neighbourInterval is how long an answer is good for: pods of others are not watched, as
// there are many of them and a call now and then does.
const neighbourInterval = time.Minute

// strangersInterval passes between two looks while there is no quota because of others.
const strangersInterval = 10 * time.Minute

// neighbours knows whether pods of others run in a namespace.
type neighbours struct {
	live  client.Reader
	clock clock.PassiveClock

	mu   sync.Mutex
	seen map[string]sighting
}

// sighting is what was seen in a namespace, and when.
type sighting struct {
	at        time.Time
	strangers bool
}

// crowd are the kinds by which others are known. A workload between two runs, or one whose
// pods a quota refuses, has no pods that tell of it.
var crowd = []schema.GroupVersionKind{
	corev1.SchemeGroupVersion.WithKind("PodList"),
	appsv1.SchemeGroupVersion.WithKind("DeploymentList"),
	appsv1.SchemeGroupVersion.WithKind("StatefulSetList"),
	appsv1.SchemeGroupVersion.WithKind("DaemonSetList"),
	batchv1.SchemeGroupVersion.WithKind("JobList"),
	batchv1.SchemeGroupVersion.WithKind("CronJobList"),
}

// strangers reports whether others run pods in a namespace that does not opt in, or could: a
// quota would bound them too.
func (n *neighbours) strangers(ctx context.Context, ns *corev1.Namespace) (bool, error) {
	if common.IsSet(ns.Labels, QuotaLabel) {
		return false, nil
	}
	if last, ok := n.last(ns.Name); ok {
		return last, nil
	}
	for _, kind := range crowd {
		if found, err := n.others(ctx, ns.Name, kind); found || err != nil {
			return n.note(ns.Name, found), err
		}
	}
	return n.note(ns.Name, false), nil
}

// others reports whether there is an object of a kind that is no instance's. Those of other
// kinds of ours are others too: the quota has no room for them.
func (n *neighbours) others(ctx context.Context, namespace string, kind schema.GroupVersionKind) (bool, error) {
	others, err := labels.NewRequirement(nameLabel, selection.NotEquals, []string{appName})
	if err != nil {
		return false, fmt.Errorf("select those of others: %w", err)
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind)
	selector := client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*others)}
	if err := n.live.List(ctx, list, client.InNamespace(namespace), selector, client.Limit(1)); err != nil {
		return false, fmt.Errorf("look for others in the namespace: %w", err)
	}
	return len(list.Items) > 0, nil
}

func (n *neighbours) note(namespace string, strangers bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == nil {
		n.seen = map[string]sighting{}
	}
	n.seen[namespace] = sighting{n.clock.Now(), strangers}
	return strangers
}

func (n *neighbours) last(namespace string) (strangers, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s, ok := n.seen[namespace]
	return s.strangers, ok && n.clock.Since(s.at) < neighbourInterval
}

func (n *neighbours) forget(namespace string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.seen, namespace)
}
