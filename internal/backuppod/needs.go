// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backuppod

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// Need is an object that the user must create before a pod can start, with the field that names it.
type Need struct {
	Field, Name, Reason string
	Kind                schema.GroupVersionKind
}

// SecretNeed returns the Need for a Secret that must exist before the pod can start. field is the spec field that names
// the Secret.
func SecretNeed(field, name string) Need {
	return Need{field, name, etcdv1beta2.ReasonSecretMissing, corev1.SchemeGroupVersion.WithKind("Secret")}
}

// Needs returns the objects that a pod needs to access the storage of the backups.
func (p Place) Needs() []Need {
	var out []Need
	if p.Secret != "" {
		out = append(out, SecretNeed(p.Field, p.Secret))
	}
	if p.Claim != "" {
		out = append(out, Need{"pvc.claimName", p.Claim, etcdv1beta2.ReasonClaimMissing, corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")})
	}
	return out
}

// Missing returns a condition reason and a message for the first needed object that does not exist. It does not read
// the content of Secrets; only the pod does that.
func Missing(ctx context.Context, reader client.Reader, namespace string, needs []Need) (reason, message string, err error) {
	for _, need := range needs {
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(need.Kind)
		err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: need.Name}, object)
		switch {
		case apierrors.IsNotFound(err):
			return need.Reason, fmt.Sprintf("%s: there is no %s %s", need.Field, need.Kind.Kind, need.Name), nil
		case err != nil:
			return "", "", fmt.Errorf("read %s %s: %w", need.Kind.Kind, need.Name, err)
		}
	}
	return "", "", nil
}
