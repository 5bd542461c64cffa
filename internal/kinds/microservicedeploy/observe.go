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

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/htpasswd"
	"github.com/opcrew/opcrew/internal/workload"
)

// reconciler is keyed by a MicroServiceDeploy.
type reconciler struct {
	*kit.Tools
	*neighbours
	troubles *troubles
}

// facts are all that is read about an instance.
type facts struct {
	rollout   workload.Rollout
	nodePorts workload.NodePorts
	scaler    *autoscalingv2.HorizontalPodAutoscaler // nil: there is none of ours
	tenant    tenantFacts
	quotas    []corev1.ResourceQuota // of the namespace
	rivals    []customv1.MicroServiceDeploy
	// gateways reports whether Gateway API is installed.
	gateways bool
	// config is that of the user's Secret; configs are objects of ours that templates name.
	config  *config
	configs map[string]*config
	// credentials reports whether the Secret of spec.auth, or the tenant's, lets anybody in.
	credentials bool
	// foreign: the Secret is there and is the user's; what it has is the user's matter.
	foreign bool
	// helperImage is that of the proxy; a pod keeps the one that it was made with.
	helperImage string
}

// Observe reads what belongs to an instance and what stands around it.
func (r *reconciler) Observe(ctx context.Context, m *customv1.MicroServiceDeploy) (facts, error) {
	rollout, err := workload.ObserveRollout(ctx, r.Client, m, identity(m))
	rollout.Recall(r.Writes())
	f := facts{rollout: rollout, gateways: r.Installed[routeCRD], helperImage: r.HelperImage}
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
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: childName(m)}, scaler)
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
		reader = r.Live // a user's Secret is not in the cache
	}
	secret := &corev1.Secret{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: sources(m)[0].secret}, secret)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read credentials: %w", err)
	}
	if apierrors.IsNotFound(err) && m.Spec.Auth == nil { // the tenant may have brought one
		err = r.Live.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: tenantAuth}, secret)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read the tenant's own credentials: %w", err)
		}
	}
	f.foreign = err == nil && secret.Labels[common.ManagedByLabel] != common.Name
	f.credentials = slices.ContainsFunc(htpasswdKeys, func(key string) bool { return htpasswd.Usable(string(secret.Data[key])) })
	return nil
}

// observeQuotas reads what bounds the namespace, and what its instances need.
func (r *reconciler) observeQuotas(ctx context.Context, m *customv1.MicroServiceDeploy, f *facts) error {
	list := &corev1.ResourceQuotaList{}
	if err := r.Client.List(ctx, list, client.InNamespace(m.Namespace)); err != nil {
		return fmt.Errorf("list ResourceQuotas: %w", err)
	}
	f.quotas, f.tenant.trouble = list.Items, r.troubles.of(m.Namespace)
	ns := &corev1.Namespace{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: m.Namespace}, ns); err != nil {
		return fmt.Errorf("read namespace: %w", err)
	}
	var err error
	if f.tenant.quotas, err = ourQuotas(ctx, r.Client, ns); err != nil {
		return err
	}
	if quotaMode(m) == customv1.QuotaNamespace && f.tenant.quotas[byNamespace] == nil {
		if f.tenant.strangers, err = r.strangers(ctx, ns); err != nil {
			return err
		}
	}
	if f.tenant.overheads, err = readOverheads(ctx, r.Client); err != nil || len(f.tenant.quotas) == 0 {
		return err
	}
	return f.tenant.readInstances(ctx, r.Client, m.Namespace)
}

func (r *reconciler) observeRivals(ctx context.Context, m *customv1.MicroServiceDeploy, f *facts) error {
	for _, host := range claims(m) {
		list := &customv1.MicroServiceDeployList{}
		if err := r.Client.List(ctx, list, client.MatchingFields{hostIndex: host}); err != nil {
			return fmt.Errorf("list rivals: %w", err)
		}
		for _, rival := range list.Items {
			if rival.UID != m.UID && rival.DeletionTimestamp == nil {
				f.rivals = append(f.rivals, rival)
			}
		}
	}
	return nil
}

func (r *reconciler) observeNodePorts(ctx context.Context, m *customv1.MicroServiceDeploy, f *facts) error {
	told := meta.FindStatusCondition(m.Status.Conditions, customv1.MicroServiceDeployChildrenReady)
	if told == nil || told.Reason != common.ReasonNodePortTaken {
		return nil
	}
	var err error
	f.nodePorts, err = workload.ObserveNodePorts(ctx, r.Live, identity(m), m.Spec.Ports)
	return err
}
