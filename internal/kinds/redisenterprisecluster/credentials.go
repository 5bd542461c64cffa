// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
)

// longestPassword is what servers read of a client that has yet to log in, in bytes.
const longestPassword = 16 * 1024

// credentials are what was read of the Secrets.
type credentials struct {
	// own is the operator's Secret and users that with the users' password; nil for none, and for one that is someone
	// else's and not named in the spec.
	own, users *corev1.Secret
	// theirs reports that the latter is not ours.
	theirs bool
	// fresh are passwords for Secrets that are to be made: what is made at random cannot be
	// computed twice alike.
	fresh struct{ own, users string }
}

// observeCredentials reads both Secrets. Where the cache has none the API server is asked: it may be
// one that was just made, and one of the user's is in no cache.
func (r *reconciler) observeCredentials(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster) (out credentials, err error) {
	out.fresh.own, out.fresh.users = rand.Text(), rand.Text()
	if out.own, err = r.secret(ctx, c, systemSecret(c)); err != nil {
		return out, err
	}
	if out.own != nil && !ensure.Ours(c, out.own) {
		out.own = nil
	}
	if out.users, err = r.secret(ctx, c, userSecret(c)); err != nil || out.users == nil {
		return out, err
	}
	switch {
	case c.Spec.ClusterCredentialSecretName != "": // the user's to name, anyone who keeps it for them
		out.theirs = !metav1.IsControlledBy(out.users, c)
	case !ensure.Ours(c, out.users):
		out.users = nil
	}
	return out, nil
}

func (r *reconciler) secret(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, name string) (*corev1.Secret, error) {
	secret, key := &corev1.Secret{}, client.ObjectKey{Namespace: c.Namespace, Name: name}
	err := r.Client.Get(ctx, key, secret)
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

// system is the operator's own password, "" before there is one.
func (s credentials) system() string {
	if s.own == nil {
		return ""
	}
	return passwordIn(s.own)
}

// password is that of the users; "" if there is none.
func (s credentials) password() string {
	if s.users == nil {
		return ""
	}
	return passwordIn(s.users)
}

// login is the name of the users' user.
func (s credentials) login(c *redisv1alpha1.RedisEnterpriseCluster) string {
	if s.theirs {
		return nameIn(s.users)
	}
	return username(c)
}

// problem says why what stands in the users' Secret is not taken; "" if it is. What servers know already goes on. An
// empty password in a Secret of ours is no problem: it is recreated.
func (s credentials) problem(c *redisv1alpha1.RedisEnterpriseCluster) string {
	if err := badSecret(c); err != nil {
		return err.Error()
	}
	if s.users == nil {
		return ""
	}
	in := "Secret " + userSecret(c)
	if s.theirs {
		in = "clusterCredentialSecretName: " + in
	}
	name, password := s.login(c), s.password()
	switch {
	case name == "":
		return in + " has no " + usernameKey
	case s.theirs && password == "":
		return in + " has no " + passwordKey
	case name == redispod.System:
		return fmt.Sprintf("%s: %s is %q, who is the operator's own user; write another", in, usernameKey, name)
	case strings.ContainsFunc(name, notInName):
		return fmt.Sprintf("%s: %s has a blank or a control character, which no server takes; write it without", in, usernameKey)
	case len(password) > longestPassword:
		return fmt.Sprintf("%s: %s has %d characters, and servers let nobody in with more than %d; write a shorter one, until when the one before is valid", in, passwordKey, len(password), longestPassword)
	}
	return ""
}

func notInName(r rune) bool { return r <= ' ' || r == '\x7f' }

// lacksPassword reports whether there is to be a password, was one, and is none any more: it is recreated.
func (s credentials) lacksPassword() bool {
	return !s.theirs && len(s.stored()) > 0 && s.password() == ""
}
