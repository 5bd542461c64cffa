// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package netpolicy

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// agent keeps the nftables table of one node up to date.
type agent struct {
	node      string
	factory   informers.SharedInformerFactory
	changed   chan struct{}
	apply     func(context.Context, string) error
	installed string
}

// retry is how long the agent waits before it runs nft again after an error.
const retry = time.Second

// Run enforces network policies for the pods of a node until ctx ends. The table of nftables remains when Run ends, so
// a crash of the agent does not allow forbidden connections.
func Run(ctx context.Context, client kubernetes.Interface, node string) error {
	a := &agent{node: node, factory: informers.NewSharedInformerFactory(client, 0), changed: make(chan struct{}, 1), apply: nft}
	if err := a.watch(); err != nil {
		return err
	}
	a.factory.Start(ctx.Done())
	defer a.factory.Shutdown()
	for kind, synced := range a.factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("watch %v: ended before the first list", kind)
		}
	}
	a.wake()
	return a.loop(ctx)
}

// watch calls wake when a policy, a pod or a namespace changes.
func (a *agent) watch() error {
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { a.wake() }, UpdateFunc: func(any, any) { a.wake() }, DeleteFunc: func(any) { a.wake() },
	}
	for _, informer := range []cache.SharedIndexInformer{
		a.factory.Networking().V1().NetworkPolicies().Informer(), a.factory.Core().V1().Pods().Informer(), a.factory.Core().V1().Namespaces().Informer(),
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("watch for network policies: %w", err)
		}
	}
	return nil
}

// wake makes the loop compute the table again. Several calls before the loop runs have the effect of one.
func (a *agent) wake() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

func (a *agent) loop(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.changed:
		}
		if err := a.install(ctx); err != nil {
			klog.ErrorS(err, "The rules are as before")
			time.AfterFunc(retry, a.wake)
		}
	}
}

// install computes the table, and replaces the table in the kernel if they differ.
func (a *agent) install(ctx context.Context) error {
	now, err := a.observe()
	if err != nil {
		return err
	}
	guards := compile(now, a.node)
	text := render(guards)
	if text == a.installed {
		return nil
	}
	if err := a.apply(ctx, text); err != nil {
		return err
	}
	a.installed = text
	klog.InfoS("Rules installed", "policies", len(now.policies), "restrictedPods", len(guards))
	return nil
}

func (a *agent) observe() (world, error) {
	out := world{namespaces: map[string]labels.Set{}}
	namespaces, err := a.factory.Core().V1().Namespaces().Lister().List(labels.Everything())
	if err != nil {
		return out, err
	}
	for _, namespace := range namespaces {
		out.namespaces[namespace.Name] = namespace.Labels
	}
	if out.pods, err = a.factory.Core().V1().Pods().Lister().List(labels.Everything()); err != nil {
		return out, err
	}
	out.policies, err = a.factory.Networking().V1().NetworkPolicies().Lister().List(labels.Everything())
	sortByName(out.pods, func(p *corev1.Pod) string { return p.Namespace + "/" + p.Name })
	sortByName(out.policies, func(p *networkingv1.NetworkPolicy) string { return p.Namespace + "/" + p.Name })
	return out, err
}

// nft executes an nft script in the network namespace of this process.
func nft(ctx context.Context, script string) error {
	cmd := exec.CommandContext(ctx, "nft", "-f", "-")
	cmd.Stdin = strings.NewReader(script)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("nft: %w: %s", err, strings.TrimSpace(out.String()))
	}
	return nil
}
