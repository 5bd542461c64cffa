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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// clearFleet removes everything that the previous measurement left behind, so that all measurements start from the same
// state.
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
	eventually.True(t, time.Minute, "all NodePools and RuntimeClasses are gone", func() error {
		left, classes := &nodesv1.NodePoolList{}, &nodev1.RuntimeClassList{}
		if err := errorsOf(env.Client.List(t.Context(), left), env.Client.List(t.Context(), classes)); err != nil {
			return err
		}
		ours := slices.DeleteFunc(classes.Items, func(c nodev1.RuntimeClass) bool { return !strings.HasPrefix(c.Name, "pool-") })
		if n := len(left.Items) + len(ours); n > 0 {
			return fmt.Errorf("%d still exist", n)
		}
		return nil
	})
}

// awaitGone waits until namespaces are gone. It also works in a cleanup, when the context of the test has already
// ended.
func awaitGone(t *testing.T, namespaces []string) {
	t.Helper()
	for deadline := time.Now().Add(*limit); len(namespaces) > 0; {
		err := env.Client.Get(context.WithoutCancel(t.Context()), client.ObjectKey{Name: namespaces[0]}, &corev1.Namespace{})
		switch {
		case apierrors.IsNotFound(err):
			namespaces = namespaces[1:]
		case time.Now().After(deadline):
			t.Fatalf("expected the namespaces of the test to be gone within %s, %s is there: %v", *limit, namespaces[0], err)
		default:
			time.Sleep(100 * time.Millisecond)
		}
	}
}
