// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/config"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/revisions"
	"github.com/opcrew/opcrew/internal/workload"
)

// observeConfigs reads the configuration that the spec names, and the configurations of the revisions.
func (r *reconciler) observeConfigs(ctx context.Context, m *customv1.MicroServiceDeploy, f *facts) error {
	f.configs = map[string]*config.Config{}
	if from := m.Spec.ConfigFrom; from != nil {
		secret := &corev1.Secret{}
		err := r.Live.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: from.SecretRef.Name}, secret)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read Secret %s: %w", from.SecretRef.Name, err)
		}
		if err == nil {
			f.config = &config.Config{Name: secret.Name, Secret: true, Keys: config.Variables(secret.Data), Hash: config.HashOf(secret.Data)}
		}
	}
	return r.readConfigs(ctx, m, configsOf(f.rollout), f)
}

// readConfigs reads the named configurations. It skips objects that opcrew did not create.
func (r *reconciler) readConfigs(ctx context.Context, m *customv1.MicroServiceDeploy, names []string, f *facts) error {
	for _, name := range names {
		if c, err := r.configObject(ctx, m, name); err != nil {
			return err
		} else if c != nil {
			f.configs[name] = c
		}
	}
	return nil
}

// configObject reads a configuration that opcrew created; it is a ConfigMap or a Secret.
func (r *reconciler) configObject(ctx context.Context, m *customv1.MicroServiceDeploy, name string) (*config.Config, error) {
	key := client.ObjectKey{Namespace: m.Namespace, Name: name}
	object, secret := &corev1.ConfigMap{}, &corev1.Secret{}
	err := r.Client.Get(ctx, key, object)
	if err == nil && metav1.IsControlledBy(object, m) {
		return &config.Config{Name: name, Keys: config.Variables(object.Data)}, nil
	}
	if apierrors.IsNotFound(err) {
		err = r.Client.Get(ctx, key, secret)
	}
	if err == nil && metav1.IsControlledBy(secret, m) {
		return &config.Config{Name: name, Secret: true, Keys: config.Variables(secret.Data)}, nil
	}
	return nil, client.IgnoreNotFound(err)
}

// observeUnnamed checks which of the configurations that seem unused are still in use, before opcrew deletes them. It
// reads from the API server, because the cache may be stale, and a pod cannot start without its configuration.
func (r *reconciler) observeUnnamed(ctx context.Context, m *customv1.MicroServiceDeploy, f *facts) error {
	own, err := r.ownConfigs(ctx, m)
	named := func(name string) bool { return f.configs[name] != nil || name == specConfig(m, f.config) }
	if err != nil || !slices.ContainsFunc(own, func(name string) bool { return !named(name) }) {
		return err
	}
	live, sets := workload.Rollout{Deployment: &appsv1.Deployment{}}, &appsv1.ReplicaSetList{}
	if err := r.Live.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: names.Child(m)}, live.Deployment); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("find the configuration in use: %w", err)
	}
	if err := r.Live.List(ctx, sets, client.InNamespace(m.Namespace), client.MatchingLabels(names.Identity(m).Selector)); err != nil {
		return fmt.Errorf("find the configurations in use: %w", err)
	}
	live.Sets = sets.Items
	return r.readConfigs(ctx, m, configsOf(live), f)
}

// ownConfigs returns the names of the configurations that opcrew created for a MicroServiceDeploy.
func (r *reconciler) ownConfigs(ctx context.Context, m *customv1.MicroServiceDeploy) ([]string, error) {
	var out []string
	for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, &corev1.SecretList{}} {
		if err := r.Client.List(ctx, list, client.InNamespace(m.Namespace), client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list configurations: %w", err)
		}
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			if object := item.(client.Object); metav1.IsControlledBy(object, m) && isConfig(m, object) {
				out = append(out, object.GetName())
			}
			return nil
		})
	}
	return out, nil
}

// isConfig reports whether an object is a configuration that opcrew created for the MicroServiceDeploy, and not a copy
// that a user made.
func isConfig(m *customv1.MicroServiceDeploy, object client.Object) bool {
	return strings.HasPrefix(object.GetName(), names.Child(m)+"-config-")
}

// configsOf returns the names of the configurations that the pod templates of a rollout mount.
func configsOf(r workload.Rollout) []string {
	var out []string
	add := func(template corev1.PodTemplateSpec) {
		if name := revisions.ConfigName(template); name != "" {
			out = append(out, name)
		}
	}
	if r.Deployment != nil {
		add(r.Deployment.Spec.Template)
	}
	for _, set := range r.Sets {
		add(set.Spec.Template)
	}
	return out
}
