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
	// refusals finds out why client pods are missing. unbound finds out why claims have no volume.
	refusals, unbound workload.Refusals
	classes           workload.Classes
}

// facts holds everything that is read about a Diva.
type facts struct {
	clients workload.Members
	manager workload.Rollout
	// attachment explains why a pod that is assigned to a node has not started.
	attachment attachment
	// secret is opcrew's Secret with the login keys, and server is the Secret that client pods mount; nil if missing.
	// ring is the key ring in secret, and given is the key that the user provides.
	secret, server *corev1.Secret
	// foreign is the name of a Secret that pods would mount although it belongs to another owner; "" if there is none.
	foreign string
	ring    *ring.Ring
	given   keys.Given
	// fresh holds new random values that a plan may need: a login key pair, a shared host key pair and a seed (random
	// bytes) for host keys. They are facts because a plan must return the same result for the same facts.
	fresh struct {
		pair, host *keys.Pair
		seed       string
	}
	// serving maps the UIDs of pods to the digests of the SSH files that they serve, for pods whose logs were read.
	serving map[string]string
	// claims are the Diva's claims by name. stale marks claims for which the cache does not show opcrew's last patch
	// yet. ownSizes marks claims whose requested size opcrew wrote itself. unbound explains why a claim has no volume.
	claims          map[string]*corev1.PersistentVolumeClaim
	stale, ownSizes map[string]bool
	unbound         workload.Refusal
	// rigid explains, by StorageClass, why volumes of the class cannot grow. It covers only the classes of claims that
	// should grow.
	rigid map[string]string
	// inventory is the list of client pods that the manager pods currently use.
	inventory  string
	agentImage string
	now        time.Time
}

// attachment describes a pod that is assigned to a node but has not started, and what the pod waits for.
type attachment struct {
	pod, words string
	again      time.Duration
}

// hasReason reports whether a condition in the status has the given reason.
func hasReason(d *opsv1.Diva, kind, reason string) bool {
	c := meta.FindStatusCondition(d.Status.Conditions, kind)
	return c != nil && c.Reason == reason
}
