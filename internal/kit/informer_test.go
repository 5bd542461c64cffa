// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
)

// Regression: a process started with an outdated list of objects. Based on this list, it removed labels and taints from
// nodes, and created RuntimeClasses for node pools that no longer existed.
func TestTheFirstListIsConsistent(t *testing.T) {
	tests := []struct{ asked, want string }{{"0", ""}, {"", ""}, {"17", "17"}}
	for _, test := range tests {
		got := "no list"
		lw := consistent(&toolscache.ListWatch{
			ListWithContextFunc: func(_ context.Context, opts metav1.ListOptions) (runtime.Object, error) {
				got = opts.ResourceVersion
				return &corev1.NodeList{}, nil
			},
		})
		lister := toolscache.ToListerWatcherWithContext(lw)
		if _, err := lister.ListWithContext(t.Context(), metav1.ListOptions{ResourceVersion: test.asked}); err != nil {
			t.Fatal(err)
		}
		if got != test.want {
			t.Errorf("a list at version %q: expected the server to be asked for %q, got %q", test.asked, test.want, got)
		}
	}
}
