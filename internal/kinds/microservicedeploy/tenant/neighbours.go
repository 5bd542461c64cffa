// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
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
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kit"
)

// neighbourInterval is how long a result is used. Pods of other owners are not watched, as there are many of them.
const neighbourInterval = time.Minute

// othersInterval is the time between two reads while there is no quota because of other owners.
const othersInterval = 10 * time.Minute

// Neighbours finds out whether other owners run pods in a namespace.
type Neighbours struct {
	Live  client.Reader
	Clock clock.PassiveClock

	seen kit.Memory[string, sighting]
}

// sighting is what was found in a namespace, and when. The zero sighting counts as outdated.
type sighting struct {
	at     time.Time
	others bool
}

// workloads are the kinds by which other owners are recognised. Pods alone do not suffice: a workload between two runs,
// or one whose pods a quota refuses, has none.
var workloads = []schema.GroupVersionKind{
	corev1.SchemeGroupVersion.WithKind("PodList"),
	appsv1.SchemeGroupVersion.WithKind("DeploymentList"),
	appsv1.SchemeGroupVersion.WithKind("StatefulSetList"),
	appsv1.SchemeGroupVersion.WithKind("DaemonSetList"),
	batchv1.SchemeGroupVersion.WithKind("JobList"),
	batchv1.SchemeGroupVersion.WithKind("CronJobList"),
}

// Others reports whether other owners run pods, or could, in a namespace that does not opt in. A quota would limit
// these pods too.
func (n *Neighbours) Others(ctx context.Context, ns *corev1.Namespace) (bool, error) {
	if common.IsSet(ns.Labels, names.QuotaLabel) {
		return false, nil
	}
	if last := n.seen.Get(ns.Name); n.Clock.Since(last.at) < neighbourInterval {
		return last.others, nil
	}
	for _, kind := range workloads {
		if found, err := n.find(ctx, ns.Name, kind); found || err != nil {
			return n.note(ns.Name, found), err
		}
	}
	return n.note(ns.Name, false), nil
}

// find reports whether there is an object of a kind that belongs to no instance. Objects of opcrew's other kinds count
// as others, as the quota has no room for them.
func (n *Neighbours) find(ctx context.Context, namespace string, kind schema.GroupVersionKind) (bool, error) {
	others, err := labels.NewRequirement(names.NameLabel, selection.NotEquals, []string{names.AppName})
	if err != nil {
		return false, fmt.Errorf("build the selector for objects of other owners: %w", err)
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind)
	selector := client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*others)}
	if err := n.Live.List(ctx, list, client.InNamespace(namespace), selector, client.Limit(1)); err != nil {
		return false, fmt.Errorf("search the namespace for objects of other owners: %w", err)
	}
	return len(list.Items) > 0, nil
}

func (n *Neighbours) note(namespace string, others bool) bool {
	n.seen.Set(namespace, sighting{n.Clock.Now(), others})
	return others
}

// Forget drops what is remembered about a namespace.
func (n *Neighbours) Forget(namespace string) { n.seen.Forget(namespace) }
