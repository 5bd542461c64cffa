// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"fmt"
	"strings"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
)

// maxPassword is the largest password, in bytes, that a Redis server reads from a client before login.
const maxPassword = 16 * 1024

// Problem returns why the operator cannot use the users' Secret; "" if it can. While there is a problem, servers keep
// their passwords. An empty password in a Secret of the operator is not a problem, because the operator generates one.
func (s Credentials) Problem(c *redisv1alpha1.RedisEnterpriseCluster) string {
	if err := desired.CheckUserSecret(c); err != nil {
		return err.Error()
	}
	if s.Users == nil {
		return ""
	}
	in := "Secret " + desired.UserSecret(c)
	if s.External {
		in = "clusterCredentialSecretName: " + in
	}
	name, password := s.Username(c), s.Password()
	switch {
	case name == "":
		return in + " has no " + usernameKey
	case s.External && password == "":
		return in + " has no " + passwordKey
	case name == redispod.System:
		return fmt.Sprintf("%s: %s is %q, which is the operator's own user; choose another name", in, usernameKey, name)
	case strings.ContainsFunc(name, isForbidden):
		return fmt.Sprintf("%s: %s contains a space or a control character, which no server accepts; remove that character", in, usernameKey)
	case len(password) > maxPassword:
		return fmt.Sprintf("%s: %s has %d characters, and servers accept at most %d; choose a shorter one; until then the previous password stays valid",
			in, passwordKey, len(password), maxPassword)
	}
	return ""
}

// isForbidden reports whether a character must not be in a user name.
func isForbidden(r rune) bool { return r <= ' ' || r == '\x7f' }
