// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"cmp"
	"slices"
	"time"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// overlap is for how long an old password is valid after all servers know the new one: clients are
// told of it at their own pace.
const overlap = time.Minute

// stored are the hashes of the passwords that servers are asked to accept.
func (s credentials) stored() []string {
	if s.own == nil {
		return nil
	}
	return acceptedIn(s.own)
}

// wanted is the hash of the one password that shall be valid in the end; "" while there is none, and those that servers
// know go on. One that is to be made counts only once it stands in the Secret, which may be someone else's or be
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

// dropsIn is how long passwords from before are valid yet. It is counted from when all servers were informed of both, and not
// at all before that.
func (f facts) dropsIn() time.Duration {
	if f.known.tunedSince.IsZero() {
		return overlap
	}
	return max(0, overlap-f.now.Sub(f.known.tunedSince))
}

// dropAgain is when to look whether passwords from before are to go; 0 where there are none, or none that stays.
func (f facts) dropAgain(c *redisv1alpha1.RedisEnterpriseCluster) time.Duration {
	if len(f.credentials.stored()) < 2 || f.credentials.wanted(c) == "" {
		return 0
	}
	return max(time.Second, f.dropsIn())
}

// secrets declares both. A password belongs to anyone who changes it: it is made once, and kept as it stands.
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
