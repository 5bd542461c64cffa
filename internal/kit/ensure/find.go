// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
)

// strangerWait passes before a name is looked at again whose holder the cache does not
// see: no event says when it goes.
const strangerWait = 10 * time.Second

// unseenWait passes before a child is looked for again that the cache does not have yet.
const unseenWait = 5 * time.Second

// found is what is known of a child before it is written.
type found struct {
	object   client.Object // if it is ours: as the cache has it, else as it is
	waiting  bool          // the cache is behind, or the child is going away: its event comes
	leaving  string        // that it is going away, in words
	stranger string        // somebody else's object of that name, in words
	stripped string        // that it lost the label by which the cache selects, in words
	again    time.Duration // when to look at another owner again that the cache does not see
}

// find looks a child up in the cache and, when the cache has none, at the API server:
// a forced apply over an object that the cache cannot see would take it from its owner.
func (a *Applier) find(ctx context.Context, owner client.Object, in *intent) (found, error) {
	object, err := a.cached(ctx, in)
	if err != nil {
		return found{}, err
	}
	if object == nil {
		return a.findLive(ctx, owner, in)
	}
	switch {
	case a.Writes.Behind(in.GroupVersionKind, object):
		return found{waiting: true}, nil
	case object.GetDeletionTimestamp() != nil && in.ours(owner, object):
		return found{waiting: true, leaving: leaving(in.Ref, object)}, nil
	case !in.ours(owner, object):
		return found{stranger: stranger(in.Ref, object), again: strangerWait}, nil
	}
	return found{object: object}, nil
}

func (a *Applier) cached(ctx context.Context, in *intent) (client.Object, error) {
	object, err := newObject(a.scheme, in)
	if err != nil {
		return nil, err
	}
	err = a.client.Get(ctx, in.ObjectKey, object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", in.Ref, err)
	}
	return object, nil
}

func (a *Applier) findLive(ctx context.Context, owner client.Object, in *intent) (found, error) {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(in.GroupVersionKind)
	err := a.live.Get(ctx, in.ObjectKey, object)
	if apierrors.IsNotFound(err) {
		a.Writes.Forget(in.GroupVersionKind, in.ObjectKey)
		return found{}, nil
	}
	if err != nil {
		return found{}, fmt.Errorf("look for %s: %w", in.Ref, err)
	}
	if !in.ours(owner, object) {
		return found{stranger: stranger(in.Ref, object), again: strangerWait}, nil
	}
	if object.GetDeletionTimestamp() != nil {
		return found{waiting: true, leaving: leaving(in.Ref, object), again: strangerWait}, nil
	}
	if object.GetLabels()[common.ManagedByLabel] == common.Name {
		// Its event is on the way, unless it is deleted before the cache has seen it.
		return found{waiting: true, again: unseenWait}, nil
	}
	return a.findStripped(ctx, in)
}

// findStripped reads a child that the cache does not have because it lost the label by
// which the cache selects. It is read whole, since values of others in it are kept.
func (a *Applier) findStripped(ctx context.Context, in *intent) (found, error) {
	object, err := newObject(a.scheme, in)
	if err != nil {
		return found{}, err
	}
	if err := a.live.Get(ctx, in.ObjectKey, object); err != nil {
		return found{}, fmt.Errorf("look for %s: %w", in.Ref, err)
	}
	return found{object: object, stripped: in.whyStripped()}, nil
}

// whyStripped says what to do with a child that the cache does not see. No one is to delete what cannot be had again.
func (in *intent) whyStripped() string {
	out := fmt.Sprintf("%s has lost the label %s: %s, by which the operator sees what becomes of it; put it back", in.Ref, common.ManagedByLabel, common.Name)
	if in.child.Data != nil {
		return out
	}
	return out + ", or delete the " + in.Kind
}

// ours reports whether an object is the child: made for owner, or data that an earlier owner
// of its kind and name has left.
func (in *intent) ours(owner, object client.Object) bool {
	if Ours(owner, object) {
		return true
	}
	left := object.GetAnnotations()[common.KeptForAnnotation]
	return in.child.Data != nil && left != "" && left == in.object.GetAnnotations()[common.KeptForAnnotation] &&
		object.GetLabels()[common.ManagedByLabel] == common.Name && metav1.GetControllerOf(object) == nil
}

// Ours reports whether object was made for owner: by its controller reference, or by
// its owner label where someone took the reference away.
func Ours(owner, object client.Object) bool {
	if controller := metav1.GetControllerOf(object); controller != nil {
		return controller.UID == owner.GetUID()
	}
	return object.GetLabels()[common.OwnerLabel] == string(owner.GetUID())
}

func leaving(ref Ref, object client.Object) string {
	return ref.String() + " is being deleted; it is made anew when it is gone" + heldBy(object)
}

func heldBy(object client.Object) string {
	if held := object.GetFinalizers(); len(held) > 0 {
		return ", finalizers " + strings.Join(held, ", ") + " hold it"
	}
	return ""
}

func stranger(ref Ref, object client.Object) string {
	who, remedy := "nobody that it names", "delete it"
	manager := object.GetLabels()[common.ManagedByLabel]
	switch controller := metav1.GetControllerOf(object); {
	case controller != nil:
		who = controller.Kind + " " + controller.Name
	case manager == common.Name:
		who, remedy = "an object that was deleted without it", "delete it (a workload with --cascade=orphan, which leaves its pods)"
	case manager != "":
		who = manager
	}
	if object.GetDeletionTimestamp() != nil {
		return fmt.Sprintf("%s is there already and belongs to %s; it is being deleted, and made for this object when it is gone%s", ref, who, heldBy(object))
	}
	return fmt.Sprintf("%s is there already and belongs to %s; it is left alone: %s, or give this object another name", ref, who, remedy)
}

func newObject(scheme *runtime.Scheme, in *intent) (client.Object, error) {
	if !scheme.Recognizes(in.GroupVersionKind) {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(in.GroupVersionKind)
		return u, nil
	}
	object, err := scheme.New(in.GroupVersionKind)
	if err != nil {
		return nil, fmt.Errorf("type of %s: %w", in.Ref, err)
	}
	typed, ok := object.(client.Object)
	if !ok {
		return nil, fmt.Errorf("type of %s: %T is not an object", in.Ref, object)
	}
	return typed, nil
}

func split(path string) []string { return strings.Split(path, ".") }
