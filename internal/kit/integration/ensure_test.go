// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func TestAChildCostsOneWriteAndThenNone(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	for resource, child := range map[string]ensure.Child{
		"configmaps":      settings(ns, map[string]string{"mode": "fast"}),
		"services":        service(ns),
		"deployments":     deployment(ns, "web:1", 2),
		"serviceaccounts": account(ns),
		"runtimeclasses":  class(ns, "runc"),
	} {
		t.Run(resource, func(t *testing.T) {
			p.t = t
			p.ensures(owner, child, ensure.Created, creation(resource))
			p.ensures(owner, child, ensure.Unchanged, free)
			p.ensures(owner, child, ensure.Unchanged, free)

			next := start(t, ns, setup{})
			next.ensures(owner, child, ensure.Unchanged, free)
		})
	}
}

func TestAChildThatCannotBeChangedIsNotAppliedAgain(t *testing.T) {
	ns := env.Namespace(t)
	owner, p := newOwner(t, ns, "owner"), start(t, ns, setup{})
	once := func(mode string) ensure.Child {
		child := settings(ns, map[string]string{"mode": mode})
		child.Once = true
		return child
	}
	p.ensures(owner, once("fast"), ensure.Created, creation("configmaps"))
	p.ensures(owner, once("slow"), ensure.Unchanged, free)
	next := start(t, ns, setup{})
	next.ensures(owner, once("slower"), ensure.Unchanged, free)
}
