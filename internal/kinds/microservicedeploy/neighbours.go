// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
)

// neighbourInterval is how long an answer is good for: pods of others are not watched, as
// there are many of them and a call now and then does.
const neighbourInterval = time.Minute

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

// strangers tells whether pods of others run in a namespace that does not opt in: a quota
// would bound them too.
func (n *neighbours) strangers(ctx context.Context, ns *corev1.Namespace) (bool, error) {
	if common.IsSet(ns.Labels, QuotaLabel) {
		return false, nil
	}
	if last, ok := n.last(ns.Name); ok {
		return last, nil
	}
	// Pods of other kinds of ours are others too: the quota has no room for them.
	others, err := labels.NewRequirement(nameLabel, selection.NotEquals, []string{appName})
	if err != nil {
		return false, fmt.Errorf("select pods of others: %w", err)
	}
	pods := &metav1.PartialObjectMetadataList{}
	pods.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	selector := client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*others)}
	if err := n.live.List(ctx, pods, client.InNamespace(ns.Name), selector, client.Limit(1)); err != nil {
		return false, fmt.Errorf("look for pods of others: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == nil {
		n.seen = map[string]sighting{}
	}
	n.seen[ns.Name] = sighting{n.clock.Now(), len(pods.Items) > 0}
	return len(pods.Items) > 0, nil
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
