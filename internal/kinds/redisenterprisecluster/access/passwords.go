// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"cmp"
	"slices"
	"time"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// overlap is how long an old password stays valid after all servers accept the new one. Clients have this time to
// switch.
const overlap = time.Minute

// Remaining returns how long old passwords stay valid. since is the time since which all servers have accepted the new
// password; zero if any server does not accept it yet.
func Remaining(since, now time.Time) time.Duration {
	if since.IsZero() {
		return overlap
	}
	return max(0, overlap-now.Sub(since))
}

// Stored returns the hashes of the passwords that servers accept, as the operator's Secret lists them.
func (s Credentials) Stored() []string {
	if s.System == nil {
		return nil
	}
	return acceptedIn(s.System)
}

// LosesPassword reports whether the users' Secret has lost its password. The operator then generates a new password.
func (s Credentials) LosesPassword() bool {
	return !s.External && len(s.Stored()) > 0 && s.Password() == ""
}

// wanted returns the hash of the one password that stays valid; "" if there is none yet. A generated password becomes
// valid only when it is stored in the Secret, because each reconcile generates a different one. The first password of a
// cluster is valid at once, because servers cannot start without one.
func (s Credentials) wanted(c *redisv1alpha1.RedisEnterpriseCluster) string {
	switch {
	case s.Problem(c) != "":
		return ""
	case s.Password() != "":
		return desired.Hash(s.Password())
	case len(s.Stored()) > 0:
		return ""
	}
	return desired.Hash(s.Generated.Users)
}

// Accepted returns the hashes of the passwords that servers should accept: the current password, and the previous
// passwords until they expire. remaining is the time until then.
func (s Credentials) Accepted(c *redisv1alpha1.RedisEnterpriseCluster, remaining time.Duration) []string {
	stored, wanted := s.Stored(), s.wanted(c)
	switch {
	case wanted == "":
		return stored
	case !slices.Contains(stored, wanted):
		return append(slices.Clone(stored), wanted)
	case remaining == 0:
		return []string{wanted}
	}
	return stored
}

// Recheck returns the time until old passwords may expire. It returns 0 if there is no old password, or if without the
// old passwords the servers would accept none.
func (s Credentials) Recheck(c *redisv1alpha1.RedisEnterpriseCluster, remaining time.Duration) time.Duration {
	if len(s.Stored()) < 2 || s.wanted(c) == "" {
		return 0
	}
	return max(time.Second, remaining)
}

// Children declares the Secrets. The operator generates the users' password once, and afterwards keeps whatever the
// Secret contains, so users may change it.
func (s Credentials) Children(c *redisv1alpha1.RedisEnterpriseCluster, remaining time.Duration) []ensure.Child {
	system := ensure.Child{Object: System(c, cmp.Or(s.SystemPassword(), s.Generated.System), s.Accepted(c, remaining)), Random: true}
	if s.System != nil {
		system.DecidedOn = s.System.ResourceVersion
	}
	if s.External || desired.UsesSystemSecret(c) {
		return []ensure.Child{system}
	}
	users := ensure.Child{Object: Users(c, cmp.Or(s.Password(), s.Generated.Users)), Random: true}
	if s.Users != nil {
		users.DecidedOn = s.Users.ResourceVersion
	}
	// Keep the password that is in the Secret. But if the Secret has an empty password, the operator replaces it with a
	// generated one.
	if s.Users == nil || s.Password() != "" {
		users.Carry = []string{"data." + passwordKey}
	}
	return []ensure.Child{users, system}
}
