// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"slices"
	"strings"
	"testing"
)

func TestOnlyTheServerThatWasLookedAtIsLetBeCopied(t *testing.T) {
	store := &scripted{replication: "run_id:now\r\n"}
	err := Apply(t.Context(), store, Admit{Runs: map[string]string{"a:1": "before", "b:1": "now"}})
	if err == nil || !strings.Contains(err.Error(), "another server has address a:1 now") {
		t.Errorf("expected an error as there is another server at one of the addresses, got %v", err)
	}
	if want := []string{"b:1 ACL SETUSER", "b:1 CONFIG REWRITE"}; !slices.EqualFunc(store.got, want, strings.HasPrefix) {
		t.Errorf("expected %s, and nothing of the other server, got %s", want, store.got)
	}
}
