// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/helper/redissecrets"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// overlap is for how long an old password is valid after all servers know the new one: clients are
// told of it at their own pace.
const overlap = time.Minute

// longestPassword is what servers read of a client that has yet to log in, in bytes.
const longestPassword = 16 * 1024

// credentials are what was read of the Secrets.
type credentials struct {
	// own is the operator's Secret and users that with the users' password; nil for none, and for one that is somebody
	// else's and not named in the spec.
	own, users *corev1.Secret
	// theirs tells that the latter is not ours.
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
	case c.Spec.ClusterCredentialSecretName != "": // the user's to name, whoever keeps it for them
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

// problem tells why what stands in the users' Secret is not taken; "" if it is. What servers know already goes on. An
// empty password in a Secret of ours is no problem: it is made anew.
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
	case name == redissecrets.System:
		return fmt.Sprintf("%s: %s is %q, who is the operator's own user; write another", in, usernameKey, name)
	case strings.ContainsFunc(name, notInName):
		return fmt.Sprintf("%s: %s has a blank or a control character, which no server takes; write it without", in, usernameKey)
	case len(password) > longestPassword:
		return fmt.Sprintf("%s: %s has %d characters, and servers let nobody in with more than %d; write a shorter one, until when the one before is valid", in, passwordKey, len(password), longestPassword)
	}
	return ""
}

func notInName(r rune) bool { return r <= ' ' || r == '\x7f' }

// lacksPassword tells whether there is to be a password, was one, and is none any more: it is made anew.
func (s credentials) lacksPassword() bool {
	return !s.theirs && len(s.stored()) > 0 && s.password() == ""
}

// stored are the hashes of the passwords that servers are told to accept.
func (s credentials) stored() []string {
	if s.own == nil {
		return nil
	}
	return acceptedIn(s.own)
}

// wanted is the hash of the one password that shall be valid in the end; "" while there is none, and those that servers
// know go on. One that is to be made counts only once it stands in the Secret, which may be somebody else's or be
// refused: until then each look makes another. The first is taken as it is made, as no server starts without one.
func (s credentials) wanted(c *redisv1alpha1.RedisEnterpriseCluster) string {
	switch {
	case s.problem(c) != "":
		return ""
	case s.password() != "":
		return hashOf(s.password())
	case len(s.stored()) > 0:
		return ""
	}
	return hashOf(s.fresh.users)
}

// accepted are the hashes of the passwords that shall be: the one that stands in the Secret and, until all servers
// have known that for a while, those before it.
func (f facts) accepted(c *redisv1alpha1.RedisEnterpriseCluster) []string {
	stored, wanted := f.credentials.stored(), f.credentials.wanted(c)
	switch {
	case wanted == "":
		return stored
	case !slices.Contains(stored, wanted):
		return append(slices.Clone(stored), wanted)
	case f.dropsIn() == 0:
		return []string{wanted}
	}
	return stored
}

// dropsIn is how long passwords of before are valid yet. It is counted from when all servers were told of both, and not
// at all before that.
func (f facts) dropsIn() time.Duration {
	if f.known.tunedSince.IsZero() {
		return overlap
	}
	return max(0, overlap-f.now.Sub(f.known.tunedSince))
}

// dropAgain is when to look whether passwords of before are to go; 0 where there are none, or none that stays.
func (f facts) dropAgain(c *redisv1alpha1.RedisEnterpriseCluster) time.Duration {
	if len(f.credentials.stored()) < 2 || f.credentials.wanted(c) == "" {
		return 0
	}
	return max(time.Second, f.dropsIn())
}

// secrets declares both. A password belongs to whoever changes it: it is made once, and kept as it stands.
func (f facts) secrets(c *redisv1alpha1.RedisEnterpriseCluster) []ensure.Child {
	s := f.credentials
	own := ensure.Child{Object: system(c, cmp.Or(s.system(), s.fresh.own), f.accepted(c)), Random: true}
	if s.own != nil {
		own.DecidedOn = s.own.ResourceVersion
	}
	if s.theirs || ownsUserSecret(c) {
		return []ensure.Child{own}
	}
	ofUsers := ensure.Child{Object: users(c, cmp.Or(s.password(), s.fresh.users)), Random: true}
	if s.users != nil {
		ofUsers.DecidedOn = s.users.ResourceVersion
	}
	if s.users == nil || s.password() != "" { // else it is to be made again
		ofUsers.Carry = []string{"data." + passwordKey}
	}
	return []ensure.Child{ofUsers, own}
}

// tellPassword tells of a password in place of one that is gone when it was made, and not while its Secret is somebody
// else's or refused.
func (r *reconciler) tellPassword(c *redisv1alpha1.RedisEnterpriseCluster, f facts, done kit.Outcome) {
	if !f.credentials.lacksPassword() || !slices.ContainsFunc(done.Results, func(result ensure.Result) bool { return wrote(result, userSecret(c)) }) {
		return
	}
	r.Events.Eventf(c, nil, corev1.EventTypeWarning, "PasswordMade", "MakePassword",
		"Secret %s had no password: it has one now, made at random, which clients need within a minute", userSecret(c))
}

// wrote tells whether a Secret was written.
func wrote(result ensure.Result, secret string) bool {
	return result.Ref.Kind == "Secret" && result.Ref.Name == secret &&
		slices.Contains([]ensure.Action{ensure.Created, ensure.Applied, ensure.Repaired}, result.Action)
}
