// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/access"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// after writes the events that depend on the results of a reconcile. A plan cannot contain such events, because it is
// made before the results are known.
func (r *reconciler) after(c *redisv1alpha1.RedisEnterpriseCluster, f facts, _ decision, done kit.Outcome) {
	r.reportPassword(c, f.credentials, done)
	r.reportLibraries(c, f.view.Move)
}

// reportPassword writes an event when the operator has replaced a lost password. The operator does not replace the
// password while the Secret has another owner, or while the API server refuses the Secret.
func (r *reconciler) reportPassword(c *redisv1alpha1.RedisEnterpriseCluster, credentials access.Credentials, done kit.Outcome) {
	written := func(result ensure.Result) bool { return wrote(result, desired.UserSecret(c)) }
	if !credentials.LosesPassword() || !slices.ContainsFunc(done.Results, written) {
		return
	}
	r.Events.Eventf(c, nil, corev1.EventTypeWarning, "PasswordMade", "MakePassword",
		"Secret %s had no password, so opcrew generated a new one. The servers accept it within a minute; from then on, clients must use it", desired.UserSecret(c))
}

// wrote reports whether a result says that opcrew wrote the Secret with this name.
func wrote(result ensure.Result, secret string) bool {
	return result.Ref.Kind == "Secret" && result.Ref.Name == secret &&
		slices.Contains([]ensure.Action{ensure.Created, ensure.Applied, ensure.Repaired}, result.Action)
}

// reportLibraries writes one event for a primary that serves slots but lacks function libraries (Redis functions) that
// other primaries have. Clients that call these functions there get errors.
func (r *reconciler) reportLibraries(c *redisv1alpha1.RedisEnterpriseCluster, move *redis.Progress) {
	if move == nil || move.Unequipped == nil {
		return
	}
	why := move.Unequipped.Error()
	if r.memory.IsNewRefusal(client.ObjectKeyFromObject(c), why) {
		r.Events.Eventf(c, nil, corev1.EventTypeWarning, "LibrariesRefused", "MoveSlots", "%s; load the libraries on that server with FUNCTION LOAD", why)
	}
}
