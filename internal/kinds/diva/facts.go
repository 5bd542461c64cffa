// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
	"github.com/opcrew/opcrew/internal/kinds/diva/served"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// reconciler reconciles a Diva.
type reconciler struct {
	*kit.Tools
	served *served.Reader
	// refusals finds out why client pods are missing, and unbound why claims have no volume.
	refusals, unbound workload.Refusals
	classes           workload.Classes
}

// facts holds everything that is read about a Diva.
type facts struct {
	clients workload.Members
	manager workload.Rollout
	// attachment says why a pod that is on a node has not started.
	attachment attachment
	// secret is opcrew's own with the pair, and server that of clients, nil if there is none; ring is what secret holds,
	// and given what the user provides.
	secret, server *corev1.Secret
	// foreign is the name of a Secret that a pod would mount and that belongs to another owner; "" if there is none.
	foreign string
	ring    *ring.Ring
	given   keys.Given
	// fresh is a new pair, a new host's pair and a new seed, where a plan may need them: random values cannot be computed
	// twice alike.
	fresh struct {
		pair, host *keys.Pair
		seed       string
	}
	// serving are the digests of what pods serve whose logs were read, by their UIDs.
	serving map[string]string
	// claims are the Diva's claims by name. stale marks claims that the cache has from before opcrew's last patch, and
	// ownSizes claims whose request is too large and was written by opcrew. unbound says why a claim has no volume.
	claims          map[string]*corev1.PersistentVolumeClaim
	stale, ownSizes map[string]bool
	unbound         workload.Refusal
	// rigid maps storage classes to the reason why their volumes cannot grow, for claims that should grow.
	rigid map[string]string
	// inventory is the manager's current list of clients.
	inventory  string
	agentImage string
	now        time.Time
}

// attachment says what a pod waits for that is on a node but has not started.
type attachment struct {
	pod, words string
	again      time.Duration
}

// hasReason reports whether a condition in the status has a reason.
func hasReason(d *opsv1.Diva, kind, reason string) bool {
	c := meta.FindStatusCondition(d.Status.Conditions, kind)
	return c != nil && c.Reason == reason
}
