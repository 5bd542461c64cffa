// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/nodedrain/evict"
	"github.com/opcrew/opcrew/internal/workload"
)

// observeOthers reads what others do to nodes: the lock of kured, and the health of etcd if a control-plane node has
// something to do.
func (s *shared) observeOthers(ctx context.Context, f *fleet.Fleet, controlPlane bool) error {
	var err error
	if f.Kured, err = s.locks.Holders(ctx, s.Live, s.Clock); err == nil && controlPlane {
		f.EtcdTrouble, err = s.etcdTrouble(ctx)
	}
	return err
}

// etcdTrouble names a pod of the control plane's etcd that is not ready. An etcd without pods, such as that of a managed
// cluster, counts as healthy.
func (s *shared) etcdTrouble(ctx context.Context) (string, error) {
	pods, err := evict.Pods(ctx, s.Live, client.InNamespace(metav1.NamespaceSystem), client.MatchingLabels{"component": "etcd", "tier": "control-plane"})
	if err != nil {
		return "", err
	}
	for _, pod := range pods {
		if !workload.Ready(pod) {
			return fmt.Sprintf("pod %s is not ready", pod.Name), nil
		}
	}
	return "", nil
}
