// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"crypto/rand"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/credentials"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
)

// observeCredentials reads the Secret with the shared credentials and checks whether its htpasswd line matches its
// password.
func (r *reconciler) observeCredentials(ctx context.Context, ns *corev1.Namespace, wanted bool) (credentials.Facts, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: ns.Name, Name: names.TenantAuth}
	err := r.Client.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) && wanted {
		// The cache may not contain a Secret that opcrew created a moment ago. Without a read from the API server,
		// opcrew would write the hash of a new password next to the old password.
		err = r.Live.Get(ctx, key, secret)
	}
	if client.IgnoreNotFound(err) != nil {
		return credentials.Facts{}, fmt.Errorf("read the Secret with credentials: %w", err)
	}
	f := credentials.Facts{User: credentials.DefaultUser}
	if !apierrors.IsNotFound(err) && secret.Labels[common.OwnerLabel] == string(ns.UID) {
		f.Live, f.User, f.Password = secret, credentials.UserIn(secret), credentials.PasswordIn(secret)
	}
	if f.Live == nil && !wanted {
		return credentials.Facts{}, nil // new credentials are not needed, and hashing a password is expensive
	}
	if f.Password == "" {
		f.Password = rand.Text()
		f.Line, err = credentials.HashLine(f.User, f.Password)
		return f, err
	}
	if seen, ok := r.checked.Load(ns.Name); ok && seen == f.Live.ResourceVersion {
		f.Match = true
		return f, nil
	}
	if f.Match = credentials.Matches(string(f.Live.Data[names.HtpasswdKey]), f.User, f.Password); f.Match {
		r.checked.Store(ns.Name, f.Live.ResourceVersion)
		return f, nil
	}
	f.Line, err = credentials.HashLine(f.User, f.Password)
	return f, err
}
