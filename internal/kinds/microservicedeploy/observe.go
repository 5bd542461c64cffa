// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"context"
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/auth"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/hosts"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/quota"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/tenant"
	"github.com/opcrew/opcrew/internal/podapi/htpasswd"
	"github.com/opcrew/opcrew/internal/workload"
)

// Observe reads the objects of a MicroServiceDeploy and everything else that affects it.
func (r *reconciler) Observe(ctx context.Context, m *customv1.MicroServiceDeploy) (facts, error) {
	rollout, err := workload.ObserveRollout(ctx, r.Client, m, names.Identity(m))
	rollout.Recall(r.Children)
	f := facts{rollout: rollout, gateways: r.Installed[hosts.RouteCRD], agentImage: r.AgentImage}
	for _, read := range []func(context.Context, *customv1.MicroServiceDeploy, *facts) error{
		r.observeScaler, r.observeConfigs, r.observeUnnamed, r.observeAuth, r.observeQuotas, r.observeRivals, r.observeNodePorts,
	} {
		if err == nil {
			err = read(ctx, m, &f)
		}
	}
	return f, err
}

func (r *reconciler) observeScaler(ctx context.Context, m *customv1.MicroServiceDeploy, f *facts) error {
	scaler := &autoscalingv2.HorizontalPodAutoscaler{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: names.Child(m)}, scaler)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("read HorizontalPodAutoscaler: %w", err)
	case metav1.IsControlledBy(scaler, m):
		f.scaler = scaler
	}
	return nil
}

func (r *reconciler) observeAuth(ctx context.Context, m *customv1.MicroServiceDeploy, f *facts) error {
	if !m.Spec.NeedAuth {
		return nil
	}
	var reader client.Reader = r.Client
	if m.Spec.Auth != nil {
		reader = r.Live // the cache contains no Secrets of users
	}
	secret := &corev1.Secret{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: auth.Sources(m)[0].Secret}, secret)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read the Secret with credentials: %w", err)
	}
	if apierrors.IsNotFound(err) && m.Spec.Auth == nil {
		// The cache contains only objects that opcrew manages, but a user may have created this Secret.
		err = r.Live.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: names.TenantAuth}, secret)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read the Secret with the credentials of the namespace: %w", err)
		}
	}
	f.foreign = err == nil && secret.Labels[common.ManagedByLabel] != common.Name
	for _, key := range names.HtpasswdKeys {
		f.costly = append(f.costly, htpasswd.Unaffordable(string(secret.Data[key]))...)
	}
	f.credentials = slices.ContainsFunc(names.HtpasswdKeys, func(key string) bool { return htpasswd.Usable(string(secret.Data[key])) })
	return nil
}

// observeQuotas reads the ResourceQuotas of the namespace and the resources that its MicroServiceDeploys need.
func (r *reconciler) observeQuotas(ctx context.Context, m *customv1.MicroServiceDeploy, f *facts) error {
	list := &corev1.ResourceQuotaList{}
	if err := r.Client.List(ctx, list, client.InNamespace(m.Namespace)); err != nil {
		return fmt.Errorf("list ResourceQuotas: %w", err)
	}
	f.trouble = r.troubles.Of(m.Namespace)
	ns := &corev1.Namespace{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: m.Namespace}, ns); err != nil {
		return fmt.Errorf("read namespace: %w", err)
	}
	// From here on, the profile that the namespace enforces counts as if it were in the spec.
	m.Spec.SecurityProfile = workload.Profile(m.Spec.SecurityProfile, ns)
	own, err := tenant.ReadQuotas(ctx, r.Client, ns)
	if err != nil {
		return err
	}
	if len(own) > 0 {
		if f.tenant, err = tenant.ReadInstances(ctx, r.Client, ns); err != nil {
			return err
		}
	}
	f.tenant.All, f.tenant.Quotas = list.Items, own
	if names.QuotaMode(m) == customv1.QuotaNamespace && own[quota.ByNamespace] == nil {
		if f.tenant.Others, err = r.around.Others(ctx, ns); err != nil {
			return err
		}
	}
	f.tenant.Overheads, err = tenant.ReadOverheads(ctx, r.Client)
	return err
}

func (r *reconciler) observeRivals(ctx context.Context, m *customv1.MicroServiceDeploy, f *facts) error {
	for _, host := range hosts.Claimed(m) {
		list := &customv1.MicroServiceDeployList{}
		if err := r.Client.List(ctx, list, client.MatchingFields{hostIndex: host}); err != nil {
			return fmt.Errorf("list instances that claim the same host name: %w", err)
		}
		for _, rival := range list.Items {
			if rival.UID != m.UID && rival.DeletionTimestamp == nil {
				log.FromContext(ctx).V(1).Info("Another instance claims the host name", "host", host, "by", client.ObjectKeyFromObject(&rival).String())
				f.rivals = append(f.rivals, rival)
			}
		}
	}
	return nil
}

func (r *reconciler) observeNodePorts(ctx context.Context, m *customv1.MicroServiceDeploy, f *facts) error {
	reported := meta.FindStatusCondition(m.Status.Conditions, customv1.MicroServiceDeployChildrenReady)
	if reported == nil || reported.Reason != common.ReasonNodePortTaken {
		return nil
	}
	var err error
	f.nodePorts, err = workload.ObserveNodePorts(ctx, r.Live, names.Identity(m), m.Spec.Ports)
	return err
}
