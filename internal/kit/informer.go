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

// newInformer makes the informers of the cache begin with a consistent list. If the API server cannot stream lists,
// client-go accepts what any server has in memory. That can be older than the last writes of the previous process, so
// that nodes would lose the labels of new pools, and children of deleted owners would be created.
func newInformer(lw toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	return toolscache.NewSharedIndexInformer(consistent(lw), object, resync, indexers)
}

// consistent replaces requests for lists of any age (resourceVersion 0) by requests for consistent lists.
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
