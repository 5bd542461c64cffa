// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"crypto/rand"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
)

// Credentials holds the passwords that were read from the Secrets of a cluster.
type Credentials struct {
	// System is the operator's Secret, and Users is the Secret with the users' password. Each is nil if the Secret does
	// not exist, or if it has another owner and the spec does not name it.
	System, Users *corev1.Secret
	// External is true if the spec names the users' Secret and opcrew does not own that Secret.
	External bool
	// Generated holds random passwords for Secrets that do not exist yet. They are generated before Decide is called,
	// because Decide must return the same result for the same input.
	Generated Generated
}

// Generated holds random passwords.
type Generated struct{ System, Users string }

// Reader reads Secrets from the cache or, if the cache has none, from the API server. The cache lacks Secrets that were
// just created and Secrets without opcrew's labels.
type Reader struct{ Cached, Live client.Reader }

// Credentials reads the operator's Secret and the users' Secret of a cluster.
func (r Reader) Credentials(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster) (out Credentials, err error) {
	out.Generated = Generated{System: rand.Text(), Users: rand.Text()}
	if out.System, err = r.secret(ctx, c, desired.SystemSecret(c)); err != nil {
		return out, err
	}
	if out.System != nil && !guard.Owns(c, out.System) {
		out.System = nil
	}
	if out.Users, err = r.secret(ctx, c, desired.UserSecret(c)); err != nil || out.Users == nil {
		return out, err
	}
	switch {
	case c.Spec.ClusterCredentialSecretName != "": // a Secret that the spec names may belong to any owner
		out.External = !metav1.IsControlledBy(out.Users, c)
	case !guard.Owns(c, out.Users):
		out.Users = nil
	}
	return out, nil
}

// secret reads one Secret. It returns nil if the Secret does not exist.
func (r Reader) secret(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, name string) (*corev1.Secret, error) {
	secret, key := &corev1.Secret{}, client.ObjectKey{Namespace: c.Namespace, Name: name}
	err := r.Cached.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		err = r.Live.Get(ctx, key, secret)
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read Secret %s: %w", name, err)
	}
	return secret, nil
}

// SystemPassword returns the password of the operator's own Redis user; "" if there is none yet.
func (s Credentials) SystemPassword() string {
	if s.System == nil {
		return ""
	}
	return passwordIn(s.System)
}

// Password returns the users' password; "" if there is none.
func (s Credentials) Password() string {
	if s.Users == nil {
		return ""
	}
	return passwordIn(s.Users)
}

// Username returns the name that users log in to Redis with.
func (s Credentials) Username(c *redisv1alpha1.RedisEnterpriseCluster) string {
	if s.External {
		return nameIn(s.Users)
	}
	return desired.Username(c)
}
