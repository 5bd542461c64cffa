// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv"
)

const (
	namespace = "opcrew-system"
	// bare is the client that makes the same writes with nothing around them.
	bare = "bare"
	// workers is how many writes are under way at a time, for opcrew and the bare client.
	workers = 8
)

// account is a ServiceAccount that may do everything: rights change neither counts nor
// times, and all sides get the same treatment by the server's fair queuing.
func account(t *testing.T, name string) *rest.Config {
	t.Helper()
	config := env.TokenConfig(t, namespace, name)
	config.QPS = -1
	binding := &rbacv1.ClusterRoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: name}},
	}
	binding.Name = "bench-" + name
	if err := env.Client.Create(t.Context(), binding); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	return config
}

// floor is what the bare client took, and wrote.
type floor struct {
	took   time.Duration
	writes int
}

// measureFloor runs the bare client.
func measureFloor(t *testing.T, do func(c client.Client)) floor {
	t.Helper()
	c := env.ClientFor(t, account(t, bare))
	mark, begin := env.Audit.Mark(t), time.Now()
	do(c)
	took := time.Since(begin)
	writes := env.Audit.Since(t, mark).By(testenv.ServiceAccountUser(namespace, bare)).Writes().Counted()
	return floor{took, len(writes)}
}

// faster is the better of two runs: what slowed the other one was not the client.
func faster(a, b floor) floor {
	if b.took < a.took {
		return b
	}
	return a
}

// concurrently does n things, as many at a time as the operator has workers.
func concurrently(t *testing.T, n int, do func(context.Context, int) error) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(workers)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}
