// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// tell tells, as events, of what no plan knows beforehand.
func (r *reconciler) tell(c *redisv1alpha1.RedisEnterpriseCluster, f facts, done kit.Outcome) {
	r.tellPassword(c, f, done)
	r.tellLibraries(c, f)
}

// tellPassword reports a password in place of one that is gone when it was made, and not while its Secret is someone
// else's or refused.
func (r *reconciler) tellPassword(c *redisv1alpha1.RedisEnterpriseCluster, f facts, done kit.Outcome) {
	if !f.credentials.lacksPassword() || !slices.ContainsFunc(done.Results, func(result ensure.Result) bool { return wrote(result, userSecret(c)) }) {
		return
	}
	r.Events.Eventf(c, nil, corev1.EventTypeWarning, "PasswordMade", "MakePassword",
		"Secret %s had no password: it has one now, made at random, which clients need within a minute", userSecret(c))
}

// wrote reports whether a Secret was written.
func wrote(result ensure.Result, secret string) bool {
	return result.Ref.Kind == "Secret" && result.Ref.Name == secret &&
		slices.Contains([]ensure.Action{ensure.Created, ensure.Applied, ensure.Repaired}, result.Action)
}

// tellLibraries reports a primary that serves slots without the function libraries of the others, once: clients are told
// there that it knows no such function.
func (r *reconciler) tellLibraries(c *redisv1alpha1.RedisEnterpriseCluster, f facts) {
	if f.view.Move == nil || f.view.Move.Unequipped == nil {
		return
	}
	why := f.view.Move.Unequipped.Error()
	if !r.memory.news(client.ObjectKeyFromObject(c), why) {
		return
	}
	r.Events.Eventf(c, nil, corev1.EventTypeWarning, "LibrariesRefused", "MoveSlots", "%s; load them there by FUNCTION LOAD", why)
}
