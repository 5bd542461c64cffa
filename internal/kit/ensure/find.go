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

const (
	// takenWait is how long to wait before checking again whether another owner still has the name of a child. The
	// cache does not hold that object, so no event shows when it is gone.
	takenWait = 10 * time.Second
	// unseenWait is how long to wait before searching again for a child that the cache does not show yet, or shows in an
	// older version.
	unseenWait = 5 * time.Second
)

// found is the result of the search for a child.
type found struct {
	object   client.Object // the child, read from the cache or the API server
	waiting  bool          // the cache is stale, or the child is being deleted; an event will follow
	leaving  string        // message if the child is being deleted; otherwise empty
	taken    string        // message if an object of another owner has the name; otherwise empty
	stripped string        // message if the child lost the label by which the cache selects; otherwise empty
	again    time.Duration // how long to wait before the next search, if no event may follow
}

// find searches for a child in the cache. If the cache does not have it, find reads from the API server, because a
// forced apply would take over an object of another owner that the cache does not hold.
func (a *Applier) find(ctx context.Context, owner client.Object, in *intent) (found, error) {
	object, err := a.cached(ctx, in)
	if err != nil {
		return found{}, err
	}
	if object == nil {
		return a.findLive(ctx, owner, in)
	}
	switch {
	case a.Behind(in.GroupVersionKind, object):
		return found{waiting: true, again: unseenWait}, nil // a watch may ignore the event of the write
	case object.GetDeletionTimestamp() != nil && in.ours(owner, object):
		return found{waiting: true, leaving: leaving(in.Ref, object)}, nil
	case !in.ours(owner, object):
		return found{taken: takenBy(in.Ref, object), again: takenWait}, nil
	}
	return found{object: object}, nil
}

func (a *Applier) cached(ctx context.Context, in *intent) (client.Object, error) {
	object, err := newObject(a.scheme(), in)
	if err != nil {
		return nil, err
	}
	err = a.Client.Get(ctx, in.ObjectKey, object)
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
	err := a.Live.Get(ctx, in.ObjectKey, object)
	if apierrors.IsNotFound(err) {
		a.Forget(in.GroupVersionKind, in.ObjectKey)
		return found{}, nil
	}
	if err != nil {
		return found{}, fmt.Errorf("search for %s: %w", in.Ref, err)
	}
	if !in.ours(owner, object) {
		return found{taken: takenBy(in.Ref, object), again: takenWait}, nil
	}
	if object.GetDeletionTimestamp() != nil {
		return found{waiting: true, leaving: leaving(in.Ref, object), again: takenWait}, nil
	}
	if object.GetLabels()[common.ManagedByLabel] == common.Name {
		// The cache will deliver an event, unless the child is deleted before the cache shows it.
		return found{waiting: true, again: unseenWait}, nil
	}
	return a.findStripped(ctx, in)
}

// findStripped reads a child that has lost the label by which the cache selects objects. It reads the complete child,
// because other managers may have set values in it.
func (a *Applier) findStripped(ctx context.Context, in *intent) (found, error) {
	object, err := newObject(a.scheme(), in)
	if err != nil {
		return found{}, err
	}
	if err := a.Live.Get(ctx, in.ObjectKey, object); err != nil {
		return found{}, fmt.Errorf("search for %s: %w", in.Ref, err)
	}
	return found{object: object, stripped: in.whyStripped()}, nil
}

func newObject(scheme *runtime.Scheme, in *intent) (client.Object, error) {
	if !scheme.Recognizes(in.GroupVersionKind) {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(in.GroupVersionKind)
		return u, nil
	}
	object, err := scheme.New(in.GroupVersionKind)
	if err != nil {
		return nil, fmt.Errorf("look up the type of %s: %w", in.Ref, err)
	}
	typed, ok := object.(client.Object)
	if !ok {
		return nil, fmt.Errorf("type of %s: %T is not an object", in.Ref, object)
	}
	return typed, nil
}

func split(path string) []string { return strings.Split(path, ".") }
