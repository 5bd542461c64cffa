// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig/fleet"
	"github.com/opcrew/opcrew/internal/workload"
)

// observeOthers reads what others do to nodes: the lock of kured, and the health of etcd if a control-plane node has
// something to do.
func (s *shared) observeOthers(ctx context.Context, f *fleet.Fleet, controlPlane bool) error {
	var err error
	if f.Kured, err = s.kured(ctx); err == nil && controlPlane {
		f.EtcdTrouble, err = s.etcdTrouble(ctx)
	}
	return err
}

// kuredLock is the annotation of kured's DaemonSet with its lock.
const kuredLock = "weave.works/kured-node-lock"

// lockAge is how old what is known of kured's lock may be: the holder of a lock drains its node first. Each reconcile of
// a node needs it, and there are many of them in an update of many nodes.
const lockAge = time.Second

// lastLocks are the nodes that held kured's lock at a time.
type lastLocks struct {
	mutex sync.Mutex
	at    time.Time
	nodes []string
}

// kured returns the nodes that hold kured's lock; none if kured is not installed in its namespace.
func (s *shared) kured(ctx context.Context) ([]string, error) {
	s.locks.mutex.Lock()
	defer s.locks.mutex.Unlock()
	if age := s.Clock.Since(s.locks.at); age >= 0 && age < lockAge {
		return s.locks.nodes, nil
	}
	nodes, err := s.readLocks(ctx)
	if err == nil {
		s.locks.at, s.locks.nodes = s.Clock.Now(), nodes
	}
	return nodes, err
}

func (s *shared) readLocks(ctx context.Context) ([]string, error) {
	set := &metav1.PartialObjectMetadata{}
	set.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
	if err := s.Live.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "kured"}, set); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return lockedBy(set.Annotations[kuredLock], s.Clock.Now()), nil
}

// etcdTrouble names a pod of the control plane's etcd that is not ready. An etcd without pods, such as that of a managed
// cluster, counts as healthy.
func (s *shared) etcdTrouble(ctx context.Context) (string, error) {
	pods, err := s.livePods(ctx, client.InNamespace(metav1.NamespaceSystem), client.MatchingLabels{"component": "etcd", "tier": "control-plane"})
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
