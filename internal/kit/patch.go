// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// patch changes an object of another owner, but not while another manager keeps undoing the change.
func (l *Loop[O, F, D]) patch(ctx context.Context, patch Patch, done *Outcome) {
	if done.held {
		done.Held++
		return
	}
	if wait := l.Children.Contest(patch.contest(), patch.Intent); wait > 0 {
		done.lookAgain(wait)
		done.Contested = fmt.Sprintf("%s is changed back again and again by %s; opcrew leaves it unchanged until %s",
			patch.Object.GetName(), l.Children.Rival(ctx, patch.Object, patch.Fields), l.Children.Until(wait))
		return
	}
	gvk, err := l.Client.GroupVersionKindFor(patch.Object)
	if err != nil {
		done.fail(err)
		return
	}
	// Request only the metadata in the response, because a Node with 50 images is large. The cache receives the whole
	// object anyway.
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(gvk)
	object.SetNamespace(patch.Object.GetNamespace())
	object.SetName(patch.Object.GetName())
	if err := l.Client.Patch(ctx, object, client.RawPatch(patch.Type, patch.Data), client.FieldOwner(common.Name)); err != nil {
		l.Children.Withdraw(patch.contest())
		done.failWrite(fmt.Errorf("patch %s: %w", patch.Object.GetName(), err))
		return
	}
	l.Children.Record(gvk, object)
	l.metrics.wrote(gvk.Kind, "Patched")
	done.wrote = true
	ref := ensure.Ref{GroupVersionKind: gvk, ObjectKey: client.ObjectKeyFromObject(object)}
	log.FromContext(ctx).Info("Patched object", "object", ref.String())
}
