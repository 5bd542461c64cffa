// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// needsValues reports whether the pod of an Activity needs a Secret.
func needsValues(a *egov1.Activity) bool { return len(a.Spec.SecretEnvs) > 0 || run.OverSSH(a) }

// secretsOf returns the names of the Secrets that an Activity refers to.
func secretsOf(a *egov1.Activity) []string {
	var out []string
	for _, s := range sourcesOf(a) {
		if !slices.Contains(out, s.secret) {
			out = append(out, s.secret)
		}
	}
	return out
}

// source is a value of a Secret that the pod of an Activity needs.
type source struct {
	// field is the field of the spec that names the Secret. file is the name of the value in the Secret of the pod.
	field, file, secret, key string
}

// sourcesOf returns the values of Secrets that the pod of an Activity needs.
func sourcesOf(a *egov1.Activity) []source {
	var out []source
	if run.OverSSH(a) {
		out = append(out,
			source{"spec.ssh", hostjob.SSHKeyFile, a.Spec.SSH.Secret, egov1.SSHPrivateKey},
			source{"spec.ssh", hostjob.SSHKnownFile, a.Spec.SSH.Secret, egov1.SSHKnownHosts})
	}
	for _, e := range a.Spec.SecretEnvs {
		out = append(out, source{"spec.secretEnvs", e.Name, e.Secret, e.Key})
	}
	return out
}

func (r *reconciler) observeSecrets(ctx context.Context, a *egov1.Activity, f *facts) error {
	if !needsValues(a) {
		return nil
	}
	var reader client.Reader = r.Client
	if a.DeletionTimestamp != nil {
		reader = r.Live // a stale cache could hide a Secret, which would then never be deleted
	}
	list := &corev1.SecretList{}
	if err := reader.List(ctx, list, client.InNamespace(run.Namespace), client.MatchingLabels{common.OwnerLabel: string(a.UID)}); err != nil {
		return fmt.Errorf("read values of Secrets: %w", err)
	}
	f.secrets = list.Items
	return nil
}

// values reads the values of Secrets that the pod needs. It returns an obstacle if a value is missing.
func (r *reconciler) values(ctx context.Context, a *egov1.Activity) (map[string][]byte, *run.Obstacle, error) {
	values := map[string][]byte{}
	for _, s := range sourcesOf(a) {
		secret := &corev1.Secret{}
		err := r.Live.Get(ctx, types.NamespacedName{Namespace: a.Namespace, Name: s.secret}, secret)
		if apierrors.IsForbidden(err) {
			return nil, &run.Obstacle{Reason: egov1.ReasonSecretMissing, Message: unbound(a.Namespace, s)}, nil
		}
		if client.IgnoreNotFound(err) != nil {
			return nil, nil, fmt.Errorf("read Secret %s: %w", s.secret, err)
		}
		value, ok := secret.Data[s.key]
		if !ok {
			return nil, &run.Obstacle{Reason: egov1.ReasonSecretMissing, Message: fmt.Sprintf("%s: the key %s or its Secret %s does not exist", s.field, s.key, s.secret)}, nil
		}
		values[s.file] = value
	}
	return values, nil, nil
}

// secretsRole is the role that lets opcrew read Secrets. An administrator binds it in individual namespaces. opcrew
// does not install a binding, because it must not be able to read the Secrets of all namespaces.
const secretsRole = "opcrew-activity-secrets-machines"

// unbound explains how to let opcrew read the Secrets of a namespace.
func unbound(namespace string, s source) string {
	return fmt.Sprintf("%s: opcrew is not allowed to read Secret %s; an administrator of the namespace can allow this with: kubectl create rolebinding opcrew-activity-secrets "+
		"--namespace %s --clusterrole %s --serviceaccount opcrew-system:opcrew-machines", s.field, s.secret, namespace, secretsRole)
}
