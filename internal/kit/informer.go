// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
)

// newInformer returns an informer that starts with a consistent list. By default, if API servers cannot stream lists,
// client-go accepts a list from the watch cache of any of them. Such a list can lack the last writes of the previous
// operator process. opcrew would then, for example, create children of deleted owners.
func newInformer(lw toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	return toolscache.NewSharedIndexInformer(consistent(lw), object, resync, indexers)
}

// consistent changes list requests of any age (resourceVersion 0) to requests for consistent lists.
func consistent(lw toolscache.ListerWatcher) toolscache.ListerWatcher {
	source, ok := lw.(*toolscache.ListWatch)
	if !ok || source.ListWithContextFunc == nil {
		return lw
	}
	out := *source
	out.ListWithContextFunc = func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		if opts.ResourceVersion == "0" {
			opts.ResourceVersion = ""
		}
		return source.ListWithContextFunc(ctx, opts)
	}
	return &out
}
