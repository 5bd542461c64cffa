// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redispods

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/agents/shared/redissecrets"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
)

// users returns the users who may log in to the servers of a pod. It reads them from the pod's mounted Secrets, as the
// agent does.
func (k *Kubelets) users(ctx context.Context, pod *corev1.Pod) (map[string][]string, error) {
	folder, err := os.MkdirTemp("", "redispods")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // a failure only leaves a temporary folder
	for _, v := range pod.Spec.Volumes {
		if v.Projected == nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			if err := k.mount(ctx, pod.Namespace, source.Secret, folder); err != nil {
				return nil, err
			}
		}
	}
	secrets, err := redissecrets.Read(folder)
	if err != nil {
		return nil, err
	}
	return map[string][]string{
		"default": secrets.Accepted, secrets.Username: secrets.Accepted,
		redispod.System: {redispod.Hash(secrets.Password)},
	}, nil
}

// mount writes the keys of a Secret to files, as a kubelet does.
func (k *Kubelets) mount(ctx context.Context, namespace string, source *corev1.SecretProjection, folder string) error {
	if source == nil {
		return nil
	}
	secret := &corev1.Secret{}
	if err := k.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: source.Name}, secret); err != nil {
		return err
	}
	for _, item := range source.Items {
		value, there := secret.Data[item.Key]
		if !there {
			return fmt.Errorf("references non-existent secret key: %s", item.Key)
		}
		path := filepath.Join(folder, item.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, value, 0o600); err != nil {
			return err
		}
	}
	return nil
}
