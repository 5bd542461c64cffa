// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"fmt"
	"testing"

	goredis "github.com/redis/go-redis/v9"
)

func TestFunctionsAreCalledOnEachPrimaryAfterTheClusterGrew(t *testing.T) {
	o := operate(t, 3)
	o.settled(soon)
	o.load("version", 1)
	w := o.write()
	o.scale(5)
	o.settled(later)
	o.calls("version", 1)
	w.spotless()
	// Servers that leave the cluster keep their function libraries, and still have them when they come back.
	o.scale(3)
	o.settled(later)
	o.load("version", 2)
	o.scale(5)
	o.settled(later)
	o.calls("version", 2)
}

// load makes a client load a function on the primaries of the first three pods.
func (o *operator) load(function string, answer int) {
	o.t.Helper()
	code := fmt.Sprintf("#!lua name=shop\nredis.register_function('%s', function() return %d end)", function, answer)
	for _, p := range o.pods[:3] {
		client := goredis.NewClient(&goredis.Options{Addr: p.home.address, Username: "default", Password: secret, Protocol: 2})
		if err := client.FunctionLoadReplace(o.t.Context(), code).Err(); err != nil {
			o.t.Fatal(err)
		}
		_ = client.Close() // no call is in progress, so an error does not matter
	}
}

// calls makes a client call a function with keys of all primaries. It also expects the replicas to have the function.
func (o *operator) calls(function string, answer int64) {
	o.t.Helper()
	client := o.client()
	defer func() { _ = client.Close() }() // no call is in progress, so an error does not matter
	view, _ := o.prober.View(shop)
	for i, p := range o.pods {
		slots := view.Nodes[p.home.address].Slots[0]
		key := o.keyFrom(p.home, int64(slots.First), int64(slots.Last))
		if got, err := client.FCall(o.t.Context(), function, []string{key}).Int64(); err != nil || got != answer {
			o.t.Errorf("expected the function to answer %d on pod %d, got %d (%v)", answer, i, got, err)
		}
		if n := len(o.command(p.guest, []any{"FUNCTION", "LIST"}).([]any)); n != 1 {
			o.t.Errorf("expected the replica on pod %d to have one library, got %d", i, n)
		}
	}
}
