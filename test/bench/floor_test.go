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
	// bare is the name of the client that makes only the necessary writes.
	bare = "bare"
	// workers is the number of concurrent writes of opcrew, and of the client that makes only the necessary writes.
	workers = 8
)

// account returns the client configuration of a ServiceAccount with all rights. The rights of an account affect neither
// request counts nor times. The server's fair queuing treats all accounts equally.
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

// floor contains the time and the number of writes of a client that makes only the necessary writes.
type floor struct {
	took   time.Duration
	writes int
}

// measureFloor runs do with a client that works without an operator, and measures the time and the writes.
func measureFloor(t *testing.T, do func(c client.Client)) floor {
	t.Helper()
	c := env.ClientFor(t, account(t, bare))
	mark, begin := env.Audit.Mark(t), time.Now()
	do(c)
	took := time.Since(begin)
	writes := env.Audit.Since(t, mark).By(testenv.ServiceAccountUser(namespace, bare)).Writes().Counted()
	return floor{took, len(writes)}
}

// faster returns the faster of two measurements, because other load on the machine must have delayed the slower one.
func faster(a, b floor) floor {
	if b.took < a.took {
		return b
	}
	return a
}

// concurrently calls do n times, with as many concurrent calls as the operator makes.
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
