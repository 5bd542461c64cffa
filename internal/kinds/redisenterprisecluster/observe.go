// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/access"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/steps"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/tuning"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/volumes"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/workload"
)

type reconciler struct {
	*kit.Tools
	prober   *redis.Prober
	steps    *steps.Runner
	refusals workload.Refusals
	unbound  *workload.Unbound
	classes  workload.Classes
	memory   steps.Memory
}

// facts holds everything that was read about a cluster.
type facts struct {
	workload.Members
	// places are the nodes and zones of the pods.
	places []workload.Place
	now    time.Time
	images desired.Images
	// operator is the namespace of the operator.
	operator string
	// storage describes the volume claims of the pods.
	storage volumes.Storage
	// unbound explains why a pod's volume claim has no volume.
	unbound workload.UnboundCause
	// credentials holds what was read from the Secrets.
	credentials access.Credentials
	// certificate explains why the status page cannot use the certificate that the spec names; "" if it can.
	certificate string
	// view is what the prober last read from the servers. seen is false if the prober has not read them yet.
	view redis.View
	seen bool
	// known is what this process of the operator has learned about the cluster since the process started.
	known steps.Known
}

// Observe reads the StatefulSet, its pods, their volume claims, the Secrets, and the prober's latest view of the
// servers. It connects to no server itself.
func (r *reconciler) Observe(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster) (facts, error) {
	key := client.ObjectKeyFromObject(c)
	f := facts{now: r.Clock.Now(), operator: r.Namespace, images: desired.Images{Agent: r.AgentImage, Redis: r.RedisImage}}
	if c.DeletionTimestamp != nil {
		r.prober.Forget(key)
		return f, nil
	}
	if r.memory.IsAnother(key, c.UID) {
		r.prober.Forget(key)
	}
	for _, observe := range []func(context.Context, *redisv1alpha1.RedisEnterpriseCluster, *facts) error{
		r.observePods, r.observeRefusal, r.observeUnbound, r.observeClaims, r.observeSecrets,
	} {
		if err := observe(ctx, c, &f); err != nil {
			return f, err
		}
	}
	r.observeServers(volumes.AsCreated(c, f.Set), &f)
	return f, nil
}

func (r *reconciler) observePods(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, f *facts) (err error) {
	if f.Members, err = workload.ObserveMembers(ctx, r.Client, c, desired.Identity(c)); err != nil {
		return err
	}
	f.Recall(r.Children)
	f.places, err = workload.ObservePlaces(ctx, r.Client, f.Within())
	return err
}

// observeRefusal finds out why pods are missing, such as an exceeded quota.
func (r *reconciler) observeRefusal(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, f *facts) (err error) {
	key := client.ObjectKeyFromObject(c)
	if !f.Missing() {
		r.refusals.Forget(key)
		return nil
	}
	reported := observed.HasReason(c, redisv1alpha1.ConditionPodsReady, common.ReasonPodsMissing)
	if f.Refusal = r.refusals.Why(ctx, key, f.Set, reported); f.Refusal.Words != "" {
		return nil
	}
	f.Refusal.Words, err = observed.Unlabelled(ctx, r.Client, c, f.Members)
	return err
}

// observeUnbound finds out why the volume claim of an unscheduled pod has no volume.
func (r *reconciler) observeUnbound(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, f *facts) error {
	claims, err := r.claims().Unscheduled(ctx, c, f.Pods)
	if err != nil {
		return err
	}
	reported := observed.HasReason(c, redisv1alpha1.ConditionPodsReady, common.ReasonPodsNotReady)
	claimOf := func(pod *corev1.Pod) *corev1.PersistentVolumeClaim { return claims[pod.Name] }
	pods := observed.PodsOf(c, f.Members, 0, f.now)
	f.unbound = r.unbound.Why(ctx, client.ObjectKeyFromObject(c), pods.ByOrdinal, claimOf, reported)
	return nil
}

// observeClaims reads the volume claims of the pods. Before this cluster has formed, it also reads claims that an
// earlier cluster of the same name left.
func (r *reconciler) observeClaims(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, f *facts) error {
	created := volumes.AsCreated(c, f.Set)
	if !desired.Persistent(c) && !desired.Persistent(created) {
		return nil
	}
	claims, err := r.claims().Claims(ctx, c)
	if err != nil {
		return err
	}
	inherited := volumes.Inherited(c, claims)
	if desired.Persistent(created) {
		f.storage = r.claims().Storage(ctx, created, observed.PodsOf(created, f.Members, inherited, f.now), claims)
	}
	f.storage.Inherited = inherited
	return nil
}

func (r *reconciler) claims() volumes.Reader {
	return volumes.Reader{Cached: r.Client, Live: r.Live, Classes: &r.classes, Children: r.Children}
}

func (r *reconciler) observeSecrets(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, f *facts) (err error) {
	secrets := access.Reader{Cached: r.Client, Live: r.Live}
	if f.credentials, err = secrets.Credentials(ctx, c); err != nil {
		return err
	}
	f.certificate, err = secrets.CertificateProblem(ctx, c)
	return err
}

// observeServers passes the servers to the prober, which reads them later, and stores the latest view of the prober in
// f. c is a copy of the object with the volume settings that the pods were created with.
func (r *reconciler) observeServers(c *redisv1alpha1.RedisEnterpriseCluster, f *facts) {
	key := client.ObjectKeyFromObject(c)
	pods := observed.PodsOf(c, f.Members, f.storage.Inherited, f.now)
	switch password := f.credentials.SystemPassword(); {
	case desired.Hibernates(c) && len(f.Pods) == 0:
		r.prober.Forget(key)
	case password != "":
		r.prober.Watch(key, redis.Target{
			Nodes:       pods.Targets(),
			Credentials: redis.Credentials{User: redispod.System, Password: password},
			Generation:  desired.Hash(password),
		})
		f.view, f.seen = r.prober.View(key)
	}
	servers, wanted := pods.Servers(f.view), tuning.For(c, f.credentials)
	f.known = r.memory.Recall(key, f.now, func(tuned map[string]string) bool { return wanted.IsComplete(servers, tuned) })
}
