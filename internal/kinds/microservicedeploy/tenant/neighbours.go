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

// neighbourInterval is how long the result of a check for other owners is used. opcrew does not watch pods of other
// owners, because there can be many of them.
const neighbourInterval = time.Minute

// othersInterval is the time between two checks while opcrew creates no quota because of other owners.
const othersInterval = 10 * time.Minute

// Neighbours finds out whether other owners run pods in a namespace.
type Neighbours struct {
	Live  client.Reader
	Clock clock.PassiveClock

	seen kit.Memory[string, sighting]
}

// sighting is the result of a check of a namespace, and its time. The zero value counts as outdated.
type sighting struct {
	at     time.Time
	others bool
}

// workloads are the kinds of objects that show that other owners use a namespace. Pods alone do not suffice: a CronJob
// between two runs, or a workload whose pods a quota rejects, has no pods.
var workloads = []schema.GroupVersionKind{
	corev1.SchemeGroupVersion.WithKind("PodList"),
	appsv1.SchemeGroupVersion.WithKind("DeploymentList"),
	appsv1.SchemeGroupVersion.WithKind("StatefulSetList"),
	appsv1.SchemeGroupVersion.WithKind("DaemonSetList"),
	batchv1.SchemeGroupVersion.WithKind("JobList"),
	batchv1.SchemeGroupVersion.WithKind("CronJobList"),
}

// Others reports whether other owners run or could run pods in a namespace. opcrew must know this, because a quota
// would limit these pods too. For a namespace with QuotaLabel, Others returns false: its users accept that a quota
// limits all pods.
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

// find reports whether a namespace has objects of the given kind that belong to no MicroServiceDeploy. Objects that
// opcrew created for its other kinds count too, because the quota has no room for their pods.
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

// Forget removes the stored result for a namespace.
func (n *Neighbours) Forget(namespace string) { n.seen.Forget(namespace) }
