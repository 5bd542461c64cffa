// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
)

func TestWhatServersAcceptIsReadAgainAsItWasWritten(t *testing.T) {
	hashes := []string{desired.Hash("old"), desired.Hash("new")}
	data := System(clustertest.New(), "inner", hashes).Data
	if got := acceptedIn(&corev1.Secret{Data: data}); !slices.Equal(got, hashes) {
		t.Errorf("expected %v, got %v", hashes, got)
	}
	if got := acceptedIn(&corev1.Secret{}); len(got) > 0 {
		t.Errorf("expected nothing to be accepted by a Secret without the key, got %v", got)
	}
}

func TestAPasswordIsReadWithoutTheLinesEndThatAnEditorLeaves(t *testing.T) {
	secret := &corev1.Secret{Data: map[string][]byte{passwordKey: []byte(" a b \r\n")}}
	if got := passwordIn(secret); got != " a b " {
		t.Errorf(`expected " a b ", got %q`, got)
	}
}
