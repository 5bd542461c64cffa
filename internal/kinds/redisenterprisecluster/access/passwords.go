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

// overlap is how long an old password stays valid after all servers accept the new one. It gives clients time to
// switch.
const overlap = time.Minute

// Remaining returns how long old passwords stay valid. since is when all servers came to accept the new password; zero
// if a server does not accept it yet.
func Remaining(since, now time.Time) time.Duration {
	if since.IsZero() {
		return overlap
	}
	return max(0, overlap-now.Sub(since))
}

// Stored returns the hashes of the passwords that servers accept.
func (s Credentials) Stored() []string {
	if s.System == nil {
		return nil
	}
	return acceptedIn(s.System)
}

// LosesPassword reports whether the users had a password that is no longer in their Secret. The operator then generates
// another.
func (s Credentials) LosesPassword() bool {
	return !s.External && len(s.Stored()) > 0 && s.Password() == ""
}

// wanted returns the hash of the one password that should be valid in the end; "" if there is none yet. A generated
// password counts only once it is in the Secret, as each reconcile generates another. The first one counts at once, as
// servers cannot start without.
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

// Accepted returns the hashes of the passwords that servers should accept: the one in the Secret and, for the remaining
// time, the previous ones.
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

// Recheck returns the time until old passwords may have to be dropped; 0 if there are none, or if no other password
// would be left.
func (s Credentials) Recheck(c *redisv1alpha1.RedisEnterpriseCluster, remaining time.Duration) time.Duration {
	if len(s.Stored()) < 2 || s.wanted(c) == "" {
		return 0
	}
	return max(time.Second, remaining)
}

// Children declares the Secrets. Users may change their password: the operator generates it once, and then keeps what
// is in the Secret.
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
	if s.Users == nil || s.Password() != "" { // an empty password is replaced by a generated one
		users.Carry = []string{"data." + passwordKey}
	}
	return []ensure.Child{users, system}
}
