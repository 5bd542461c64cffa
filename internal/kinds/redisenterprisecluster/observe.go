// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/workload"
)

type reconciler struct {
	*kit.Tools
	prober   *redis.Prober
	refusals workload.Refusals
	unbound  *workload.Unbound
	classes  workload.Classes
	memory   memory
}

// facts are all that is read about a cluster.
type facts struct {
	workload.Members
	// places are where the pods run.
	places []workload.Place
	now    time.Time
	images images
	// inherited is how many pods the claims reach that a cluster of this name has left behind; 0 once this one is formed.
	inherited int32
	// storage is what the claims of the pods tell.
	storage storage
	// unbound is why the claim of a pod has no volume.
	unbound workload.Lack
	// credentials are what is in the Secrets.
	credentials credentials
	// certificate is why the status page cannot have the one that the spec names; "" if it can.
	certificate string
	// view is the last look at the servers; seen reports whether there was one.
	view redis.View
	seen bool
	// known is what the process remembers of the cluster.
	known remembered
}

// Observe reads the StatefulSet and its pods, claims of an earlier cluster, the Secrets, and what the prober has seen of the
// servers, which it asks of no one here.
func (r *reconciler) Observe(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster) (facts, error) {
	key := client.ObjectKeyFromObject(c)
	f := facts{now: r.Clock.Now(), images: images{helper: r.HelperImage, redis: r.RedisImage}}
	if c.DeletionTimestamp != nil {
		r.prober.Forget(key)
		return f, nil
	}
	if r.memory.isAnother(key, c.UID) {
		r.prober.Forget(key)
	}
	var err error
	if f.Members, err = workload.ObserveMembers(ctx, r.Client, c, identity(c)); err != nil {
		return f, err
	}
	f.Recall(r.Writes())
	if f.places, err = workload.ObservePlaces(ctx, r.Client, f.Within()); err != nil {
		return f, err
	}
	if err := r.observeRefusal(ctx, c, &f); err != nil {
		return f, err
	}
	if f.unbound, err = r.observeUnbound(ctx, c, f); err != nil {
		return f, err
	}
	if err := r.observeClaims(ctx, c, &f); err != nil {
		return f, err
	}
	if f.credentials, err = r.observeCredentials(ctx, c); err != nil {
		return f, err
	}
	if f.certificate, err = r.observeCertificate(ctx, c); err != nil {
		return f, err
	}
	r.observeServers(f.asMade(c), &f)
	return f, nil
}

// observeRefusal finds out why pods are missing.
func (r *reconciler) observeRefusal(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, f *facts) error {
	key := client.ObjectKeyFromObject(c)
	if !f.Missing() {
		r.refusals.Forget(key)
		return nil
	}
	told := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionPodsReady)
	f.Refusal = r.refusals.Why(ctx, key, f.Set, told != nil && told.Reason == common.ReasonPodsMissing)
	if f.Refusal.Words != "" {
		return nil
	}
	var err error
	f.Refusal.Words, err = r.stray(ctx, c, f)
	return err
}

// stray reports a pod that is in the way of one of ours, as someone took a label from it: the StatefulSet lets such
// a one go, and its controller writes no event of a name that is taken.
func (r *reconciler) stray(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, f *facts) (string, error) {
	for _, name := range identity(c).Names(f.Replicas()) {
		if f.Pods[name] != nil {
			continue
		}
		pod := &corev1.Pod{}
		if err := r.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, pod); client.IgnoreNotFound(err) != nil {
			return "", fmt.Errorf("read pod %s: %w", name, err)
		}
		if lacks := lacking(c, pod); pod.Name != "" && lacks != "" {
			return fmt.Sprintf("pod %s is there and lacks a label; put it back: kubectl label --overwrite pod -n %s %s %s", name, c.Namespace, name, lacks), nil
		}
	}
	return "", nil
}

// lacking is the first label of the selector that a pod has not; "" if it has them all.
func lacking(c *redisv1alpha1.RedisEnterpriseCluster, pod *corev1.Pod) string {
	wanted := selector(c)
	for _, key := range sortedKeys(wanted) {
		if pod.Labels[key] != wanted[key] {
			return key + "=" + wanted[key]
		}
	}
	return ""
}

// observeServers tells the prober where to look, and takes what it has seen.
func (r *reconciler) observeServers(c *redisv1alpha1.RedisEnterpriseCluster, f *facts) {
	key := client.ObjectKeyFromObject(c)
	switch password := f.credentials.system(); {
	case asleep(c) && len(f.Pods) == 0:
		r.prober.Forget(key)
	case password != "":
		r.prober.Watch(key, redis.Target{
			Nodes:       f.targets(c),
			Credentials: redis.Credentials{User: redispod.System, Password: password},
			Generation:  hashOf(password),
		})
		f.view, f.seen = r.prober.View(key)
	}
	f.known = r.memory.recall(key, f.now, f.servers(c).tuned(f.tuning(c)))
}

// targets are the servers of all pods that have an address.
func (f facts) targets(c *redisv1alpha1.RedisEnterpriseCluster) []redis.Node {
	var out []redis.Node
	for i, pod := range f.byOrdinal(c) {
		if pod == nil || pod.Status.PodIP == "" || ended(pod) {
			continue
		}
		out = append(out,
			redis.Node{Address: address(pod, redisv1alpha1.Home), Pod: i, Place: redis.Home},
			redis.Node{Address: address(pod, redisv1alpha1.Guest), Pod: i, Place: redis.Guest})
	}
	return out
}

// ended reports whether the kubelet says that no container of a pod runs, or will again.
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// forget drops all that is known by a name.
func (r *reconciler) forget(key client.ObjectKey) {
	r.prober.Forget(key)
	r.memory.forget(key)
	r.refusals.Forget(key)
	r.unbound.Forget(key)
}
