// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// clearFleet takes away what a driver or the bare client left, so that the next one
// finds what the first one did.
func clearFleet(t *testing.T) {
	t.Helper()
	concurrently(t, *pools, func(ctx context.Context, i int) error {
		if err := env.Client.Patch(ctx, newPool(i), mergePatch(`{"metadata":{"finalizers":null}}`)); client.IgnoreNotFound(err) != nil {
			return err
		}
		class := &nodev1.RuntimeClass{}
		class.Name = poolName(i)
		return errorsOf(env.Client.Delete(ctx, newPool(i)), env.Client.Delete(ctx, class))
	})
	list := nodeMetadata()
	if err := env.Client.List(t.Context(), list, client.HasLabels{tier}); err != nil {
		t.Fatal(err)
	}
	clean := mergePatch(`{"metadata":{"labels":{%q:null},"annotations":{%q:null,"opcrew.io/nodepools":null}},"spec":{"taints":null}}`, tier, ledger)
	concurrently(t, len(list.Items), func(ctx context.Context, i int) error {
		node := &corev1.Node{}
		node.Name = list.Items[i].Name
		return env.Client.Patch(ctx, node, clean)
	})
	awaitNoPools(t)
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func awaitNoPools(t *testing.T) {
	t.Helper()
	eventually.True(t, time.Minute, "no pool and no RuntimeClass is left", func() error {
		left, classes := &nodesv1.NodePoolList{}, &nodev1.RuntimeClassList{}
		if err := errorsOf(env.Client.List(t.Context(), left), env.Client.List(t.Context(), classes)); err != nil {
			return err
		}
		ours := slices.DeleteFunc(classes.Items, func(c nodev1.RuntimeClass) bool { return !strings.HasPrefix(c.Name, "pool-") })
		if n := len(left.Items) + len(ours); n > 0 {
			return fmt.Errorf("%d are", n)
		}
		return nil
	})
}
