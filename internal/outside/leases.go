// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package outside

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// ErrLost is returned when this process has lost a lease. The process must exit, because another process may now serve
// its kinds.
var ErrLost = errors.New("the lease could not be renewed, so another process may now serve the kinds")

// Leases are the leases by which the deployed processes of the operator elect their leaders.
type Leases struct {
	Client kubernetes.Interface
	// Namespace is the namespace of the deployed operator and its leases.
	Namespace string
	// Names are the names of the leases. The process needs all of them.
	Names []string
	// Identity is the name of this process in the leases.
	Identity string
	Log      logr.Logger

	// LeaseDuration is how long a lease is valid without renewal. RenewDeadline is how long this process tries to renew
	// it. RetryPeriod is the time between attempts.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
}

// Hold acquires the leases in order, runs serve while it holds all of them, and then releases them. If a lease is lost,
// it cancels the context of serve and returns ErrLost without waiting for serve. The caller must then exit at once.
func (l Leases) Hold(ctx context.Context, serve func(context.Context) error) error {
	if err := l.namespace(ctx); err != nil {
		return err
	}
	// The leases must be held until serve has returned, even if ctx ends earlier.
	held, release := context.WithCancel(context.WithoutCancel(ctx))
	serving, stop := context.WithCancelCause(ctx)
	var electors sync.WaitGroup
	defer electors.Wait()
	defer release()
	defer stop(nil)
	for _, name := range l.Names {
		taken, err := l.take(held, name, func() { stop(fmt.Errorf("lease %s/%s: %w", l.Namespace, name, ErrLost)) }, &electors)
		if err != nil {
			return err
		}
		select {
		case <-taken:
		case <-serving.Done():
			return lost(serving)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- serve(serving) }()
	select {
	case err := <-ended:
		return errors.Join(err, lost(serving))
	case <-serving.Done():
	}
	if err := lost(serving); err != nil {
		return err
	}
	return <-ended
}

// lost returns ErrLost if serve ended because a lease was lost, or nil if the caller ended serve.
func lost(serving context.Context) error {
	if cause := context.Cause(serving); errors.Is(cause, ErrLost) {
		return cause
	}
	return nil
}

// namespace checks that the namespace of the leases exists, because leases cannot be acquired without it.
func (l Leases) namespace(ctx context.Context) error {
	_, err := l.Client.CoreV1().Namespaces().Get(ctx, l.Namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("namespace %s, in which the processes of the operator elect a leader, does not exist: run make install first", l.Namespace)
	}
	if err != nil {
		return fmt.Errorf("read namespace %s: %w", l.Namespace, err)
	}
	return nil
}

// take competes for one lease until held ends. It closes the returned channel when it has acquired the lease.
func (l Leases) take(held context.Context, name string, lose func(), electors *sync.WaitGroup) (<-chan struct{}, error) {
	taken := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: l.Namespace, Name: name},
			Client:     l.Client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: l.Identity},
		},
		Name:            name,
		LeaseDuration:   l.LeaseDuration,
		RenewDeadline:   l.RenewDeadline,
		RetryPeriod:     l.RetryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(taken) },
			OnStoppedLeading: func() {
				if held.Err() == nil {
					lose()
				}
			},
			OnNewLeader: func(identity string) { l.waits(name, identity) },
		},
	})
	if err != nil {
		return nil, fmt.Errorf("acquire lease %s/%s: %w", l.Namespace, name, err)
	}
	electors.Go(func() { elector.Run(held) })
	return taken, nil
}

// waits logs which other process holds a lease that this process needs.
func (l Leases) waits(name, holder string) {
	if holder == l.Identity || holder == "" {
		return
	}
	l.Log.Info("Another process of the operator serves these kinds, so this process waits until that process ends. "+
		"If that process is deployed in the cluster, scale its Deployment down: kubectl -n "+l.Namespace+" scale deployment "+name+" --replicas 0",
		"lease", l.Namespace+"/"+name, "holder", holder)
}
