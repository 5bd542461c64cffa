// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package memcached

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// reconciler reconciles Memcached objects.
type reconciler struct {
	*kit.Tools
	refusals workload.Refusals
}

// facts holds everything that was read about a Memcached.
type facts struct {
	workload.Members
	// places are the nodes and zones of the servers.
	places []workload.Place
}

// Observe reads the StatefulSet, its pods, and the nodes that the pods run on.
func (r *reconciler) Observe(ctx context.Context, m *cachev1alpha1.Memcached) (facts, error) {
	members, err := workload.ObserveMembers(ctx, r.Client, m, identity(m))
	f := facts{Members: members}
	if err != nil {
		return f, err
	}
	if f.places, err = workload.ObservePlaces(ctx, r.Client, members.Within()); err != nil {
		return f, err
	}
	if !f.Missing() {
		r.refusals.Forget(client.ObjectKeyFromObject(m))
		return f, nil
	}
	f.Refusal = r.refusals.Why(ctx, client.ObjectKeyFromObject(m), f.Set, refused(m))
	return f, nil
}

// refused reports whether the status says that servers are missing. In this case, the API server may have refused to
// create their pods.
func refused(m *cachev1alpha1.Memcached) bool {
	reported := meta.FindStatusCondition(m.Status.Conditions, cachev1alpha1.MemcachedServersReady)
	return reported != nil && reported.Reason == cachev1alpha1.ReasonServersMissing
}

// objectOfPod enqueues the Memcached whose StatefulSet owns a pod.
var objectOfPod = workload.OwnerByLabels(appName, instanceLabel)
