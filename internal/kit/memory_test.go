// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"sync"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestAMemoryHoldsAValuePerKeyUntilTheKeyIsForgotten(t *testing.T) {
	var memory Memory[client.ObjectKey, int]
	web, db := client.ObjectKey{Namespace: "shop", Name: "web"}, client.ObjectKey{Namespace: "shop", Name: "db"}
	if got := memory.Get(web); got != 0 {
		t.Errorf("expected an empty memory, got %d", got)
	}
	memory.Set(web, 1)
	memory.Set(db, 2)
	if got := memory.Update(web, func(n int) int { return n + 10 }); got != 11 {
		t.Errorf("expected the new value 11, got %d", got)
	}
	memory.Forget(web)
	if memory.Get(web) != 0 || memory.Get(db) != 2 {
		t.Errorf("expected shop/web to be forgotten and shop/db to be kept, got %d and %d", memory.Get(web), memory.Get(db))
	}
}

func TestUpdatesOfAMemoryAreNotLost(t *testing.T) {
	var memory Memory[string, int]
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() { memory.Update("web", func(n int) int { return n + 1 }) })
	}
	group.Wait()
	if got := memory.Get("web"); got != 100 {
		t.Errorf("expected 100 updates, got %d", got)
	}
}
