// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// catchUp waits until the observer has seen all changes up to now. It returns the server's current resource version.
func (o *observer) catchUp(ctx context.Context) (string, error) {
	version := ""
	for _, kind := range o.kinds {
		list, err := o.list(ctx, kind)
		if err != nil {
			return "", err
		}
		version = list.GetResourceVersion()
		for !o.hasSeen(kind.Kind, list) {
			select {
			case <-ctx.Done():
				return "", fmt.Errorf("the observer did not receive all changes of %s: %w", kind.Kind, ctx.Err())
			case <-time.After(2 * time.Millisecond):
			}
		}
	}
	return version, nil
}

// hasSeen reports whether the observer's view contains all changes up to the version of a list.
func (o *observer) hasSeen(kind string, list *unstructured.UnstructuredList) bool {
	view, _, _ := o.view()
	at := versionNumber(list.GetResourceVersion())
	listed := map[Key]bool{}
	for i := range list.Items {
		key := keyOf(&list.Items[i])
		listed[key] = true
		seen := view.objects[key]
		if seen == nil || versionNumber(seen.GetResourceVersion()) < versionNumber(list.Items[i].GetResourceVersion()) {
			if !o.wentSince(key, at) {
				return false
			}
		}
	}
	for key, seen := range view.objects {
		if key.Kind == kind && !listed[key] && versionNumber(seen.GetResourceVersion()) <= at {
			return false
		}
	}
	return true
}

// wentSince reports whether the observer saw the deletion of an object after the resource version in at.
func (o *observer) wentSince(key Key, at uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.past.events {
		if e.Key == key && e.Gone && e.version > at {
			return true
		}
	}
	return false
}
