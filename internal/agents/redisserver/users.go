// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/shared/redissecrets"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
)

// users describes the Redis users of a server.
type users struct {
	name     string   // user name of applications, in addition to the Redis user named default
	accepted []string // hashes of the passwords with which applications can log in
	password string   // password of the operator's user
}

// newUsers returns the users that the Secrets describe. It refuses invalid user names, and the name of the operator's
// user.
func newUsers(s redissecrets.Secrets) (users, error) {
	switch {
	case s.Username == "" || strings.ContainsFunc(s.Username, notInName):
		return users{}, fmt.Errorf("%.80q is not a valid user name: the name is empty, or contains a blank or a control character", s.Username)
	case s.Username == redispod.System:
		return users{}, fmt.Errorf("user name %q is reserved for the operator", s.Username)
	}
	return users{s.Username, s.Accepted, s.Password}, nil
}

func notInName(r rune) bool { return r <= ' ' || r == '\x7f' }

// directives returns the directives that define the users, including the user name and password with which the server,
// as a replica, logs in to its primary. If blocked is true, no replica can copy the server.
func (u users) directives(blocked bool) []directive {
	names := []string{"default", u.name}
	var out []directive
	for _, name := range slices.Compact(names) {
		out = append(out, directive{"user", acl(name, u.accepted, redispod.UserRules())})
	}
	rules := redispod.SystemRules()
	if blocked {
		rules = append(rules, blockingRule, "-sync")
	}
	return append(out,
		directive{"user", acl(redispod.System, []string{redispod.Hash(u.password)}, rules)},
		directive{"masteruser", redispod.System},
		directive{"masterauth", quote(u.password)})
}

// acl returns the value of a directive that defines a user. It contains only hashes of passwords, so the file reveals
// no password of a user.
func acl(name string, hashes, rules []string) string {
	out := []string{quote(name), "on"}
	for _, hash := range hashes {
		out = append(out, "#"+hash)
	}
	return strings.Join(append(out, rules...), " ")
}
