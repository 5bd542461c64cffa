// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redispods runs fake Redis servers in memory, for the pods of an API server without kubelets. It watches the
// pods, and starts and stops their servers. The fake servers use the flags, the mounted Secrets and the volumes of
// their pod, as real servers do. A pod becomes ready when the agent of a real pod would report it as ready.
package redispods

import (
	"context"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/stores/redis/redissim"
)

// glance is the interval at which redispods checks the state of pods, and the Secrets for which they wait.
const glance = 50 * time.Millisecond

// Kubelets runs the fake Redis servers of pods.
type Kubelets struct {
	World  *redissim.World
	client client.Client

	mu sync.Mutex
	// pods contains the pods that should run, in the state in which they were last seen.
	pods map[types.UID]*corev1.Pod
}

// Follow runs the fake servers of all pods on a server until the test ends.
func Follow(t testing.TB, config *rest.Config, c client.Client, world *redissim.World) *Kubelets {
	t.Helper()
	k := &Kubelets{World: world, client: c, pods: map[types.UID]*corev1.Pod{}}
	pods, err := cache.New(config, cache.Options{Scheme: c.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	informer, err := pods.GetInformer(ctx, &corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := informer.AddEventHandler(k.handlers(ctx)); err != nil {
		t.Fatal(err)
	}
	k.mourn(ctx, t, pods)
	go func() { _ = pods.Start(ctx) }() // ends with the test
	go k.tell(ctx)
	return k
}

// mourn deletes the simulated data of a Redis cluster without volume claims when its RedisEnterpriseCluster is deleted.
func (k *Kubelets) mourn(ctx context.Context, t testing.TB, all cache.Cache) {
	t.Helper()
	clusters, err := all.GetInformer(ctx, &redisv1alpha1.RedisEnterpriseCluster{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = clusters.AddEventHandler(toolscache.ResourceEventHandlerFuncs{DeleteFunc: func(o any) {
		if c, ok := o.(*redisv1alpha1.RedisEnterpriseCluster); ok && c.Spec.PersistentSpec == nil {
			k.World.Abandon(Cluster(c.Namespace, c.Name))
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
}

func (k *Kubelets) handlers(ctx context.Context) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { k.see(ctx, o.(*corev1.Pod)) },
		UpdateFunc: func(_, o any) { k.see(ctx, o.(*corev1.Pod)) },
		DeleteFunc: func(o any) {
			if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			k.stop(o.(*corev1.Pod))
		},
	}
}

// Wipe deletes all data of pods. Their servers stop and start again.
func (k *Kubelets) Wipe(ctx context.Context, pods ...*corev1.Pod) {
	for _, pod := range pods {
		k.stop(pod)
	}
	for _, pod := range pods {
		for _, place := range places {
			k.World.Wipe(volume(pod, place))
		}
		k.see(ctx, pod)
	}
}

var places = []redisv1alpha1.Place{redisv1alpha1.Home, redisv1alpha1.Guest}

// see starts or stops the servers of a pod, according to the pod's current state.
func (k *Kubelets) see(ctx context.Context, pod *corev1.Pod) {
	if pod.Labels[redisv1alpha1.RoleLabel] != redisv1alpha1.RoleNode {
		return
	}
	if pod.DeletionTimestamp != nil && handsOver(pod) {
		k.World.HandOver(string(pod.UID))
	}
	if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP == "" {
		k.stop(pod)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	_, starts := k.pods[pod.UID]
	k.pods[pod.UID] = pod
	if !starts {
		go k.start(ctx, pod)
	}
}

// start starts the servers of a pod once the pod's Secrets exist. It does nothing if the pod is stopped in the
// meantime.
func (k *Kubelets) start(ctx context.Context, pod *corev1.Pod) {
	users, err := k.users(ctx, pod)
	for ; err != nil; users, err = k.users(ctx, pod) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(glance):
		}
		if k.stopped(pod) {
			return
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pods[pod.UID] == nil {
		return
	}
	for _, container := range pod.Spec.Containers {
		for _, place := range places {
			if container.Name == string(place) {
				k.World.Run(process(pod, container, place, users))
			}
		}
	}
}

func (k *Kubelets) stopped(pod *corev1.Pod) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pods[pod.UID] == nil
}

// stop ends the servers of a pod. It does not end the servers of a later pod with the same name.
func (k *Kubelets) stop(pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pods[pod.UID] == nil {
		return
	}
	delete(k.pods, pod.UID)
	k.World.Stop(string(pod.UID))
	if claim(pod) != "" {
		return
	}
	for _, place := range places {
		k.World.Wipe(volume(pod, place))
	}
}
