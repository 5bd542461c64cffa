// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package nodestate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/pooltest"
)

func FuzzLedger(f *testing.F) {
	f.Add(`{"pools":["gold"],"labels":{"a":{"value":"b","pools":["gold"]}},"taints":{"x:NoExecute":{"value":"","pools":null}}}`)
	f.Add(`{"annotations":{"":{"value":"\u0000"}},"taints":{":":{}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		node := &corev1.Node{}
		pooltest.HasLedger(text)(node)
		held := LedgerOf(node)
		_, _, _ = held.AllPools(), held.recovered(), held.Mentions("gold")
		if len(held.String()) > 6*len(text)+1000 {
			t.Errorf("%q is written with %d bytes", text, len(held.String()))
		}
		for _, change := range Changes(node, Desire(node, []*nodesv1.NodePool{pooltest.Pool("gold")})) {
			_ = change.String()
		}
	})
}
