// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// controller writes addresses into the status of Services. It has one worker, so the allocator needs no lock.
type controller struct {
	client    kubernetes.Interface
	services  corelisters.ServiceLister
	queue     workqueue.TypedRateLimitingInterface[string]
	allocator *Allocator
}

// Run assigns addresses from pool to the Services of type LoadBalancer until ctx ends.
func Run(ctx context.Context, client kubernetes.Interface, pool netip.Prefix) error {
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Services()
	c := &controller{
		client:    client,
		services:  informer.Lister(),
		queue:     newQueue(),
		allocator: NewAllocator(pool),
	}
	if _, err := informer.Informer().AddEventHandler(c.handler()); err != nil {
		return fmt.Errorf("watch services: %w", err)
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), informer.Informer().HasSynced) {
		return fmt.Errorf("read all services: %w", context.Cause(ctx))
	}
	if err := c.adopt(); err != nil {
		return err
	}
	go func() {
		<-ctx.Done()
		c.queue.ShutDown()
	}()
	for c.next(ctx) {
	}
	return nil
}

func newQueue() workqueue.TypedRateLimitingInterface[string] {
	backoff := workqueue.NewTypedItemExponentialFailureRateLimiter[string](50*time.Millisecond, 30*time.Second)
	return workqueue.NewTypedRateLimitingQueue(backoff)
}

func (c *controller) handler() cache.ResourceEventHandler {
	enqueue := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			c.queue.Add(key)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, object any) { enqueue(object) },
		DeleteFunc: enqueue,
	}
}

// adopt records the addresses that Services got before this program was restarted. Otherwise the controller could
// assign such an address to another Service.
func (c *controller) adopt() error {
	services, err := c.services.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("list services: %w", err)
	}
	for _, service := range services {
		for _, address := range addresses(service) {
			if wants(service) {
				c.allocator.Hold(cache.MetaObjectToName(service).String(), address)
			}
		}
	}
	return nil
}

// next processes one Service from the queue. It returns false once the queue is shut down.
func (c *controller) next(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	if err := c.sync(ctx, key); err != nil {
		// Do not log a conflict, because it is normal: the next attempt reads a newer copy of the Service.
		if !apierrors.IsConflict(err) {
			klog.ErrorS(err, "Service has no address yet", "service", key)
		}
		c.queue.AddRateLimited(key)
		return true
	}
	c.queue.Forget(key)
	return true
}

func (c *controller) sync(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	service, err := c.services.Services(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		c.allocator.Release(key)
		return nil
	}
	if err != nil {
		return err
	}
	if !wants(service) {
		c.allocator.Release(key)
		return c.withdraw(ctx, service)
	}
	requested, err := requestedAddress(service)
	if err != nil {
		return err
	}
	address, err := c.allocator.Assign(key, requested)
	if err != nil {
		return err
	}
	return c.announce(ctx, service, address)
}

// announce writes the address into the Service's status unless the status already has it.
func (c *controller) announce(ctx context.Context, service *corev1.Service, address netip.Addr) error {
	if current := addresses(service); len(current) == 1 && current[0] == address {
		return nil
	}
	return c.write(ctx, service, []corev1.LoadBalancerIngress{{IP: address.String()}})
}

// withdraw removes the address from a Service that no longer has the type LoadBalancer, or that has a
// loadBalancerClass.
func (c *controller) withdraw(ctx context.Context, service *corev1.Service) error {
	if slices.ContainsFunc(addresses(service), c.allocator.Contains) {
		return c.write(ctx, service, nil)
	}
	return nil
}

func (c *controller) write(ctx context.Context, service *corev1.Service, ingress []corev1.LoadBalancerIngress) error {
	service = service.DeepCopy()
	service.Status.LoadBalancer.Ingress = ingress
	_, err := c.client.CoreV1().Services(service.Namespace).UpdateStatus(ctx, service, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write the address of %s/%s: %w", service.Namespace, service.Name, err)
	}
	return nil
}
