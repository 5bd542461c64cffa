// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redispod is what the operator and the programs in a pod of Redis must know alike: the user as which they
// log in, where Secrets are mounted, what users may do, and which settings need a restart. What the programs do is no
// part of it.
package redispod

import (
	"crypto/sha256"
	"encoding/hex"
)

// System is the name of the user as which the operator, the agents and replicas log in.
const System = "opcrew"

// Where the keys of the Secrets are, beneath the folder that both are mounted in.
const (
	UsernameFile = "users/username"
	PasswordFile = "system/password"
	AcceptedFile = "system/accepted"
)

// Hash is a password as servers know it.
func Hash(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

// SystemRules are those of the user System, in the words of ACL SETUSER.
func SystemRules() []string { return []string{"~*", "&*", "+@all"} }

// UserRules are those of the users: all that applications, clients of a cluster and tools that only look need, and
// nothing that shows the password of System, stops a server or changes who has which slots.
func UserRules() []string {
	return []string{
		"~*", "&*", "+@all", "-@admin", "-@dangerous",
		// What is dangerous by their being slow, or to the users' own data alone.
		"+keys", "+sort", "+sort_ro", "+flushall", "+flushdb", "+restore",
		// What only tells.
		"+info", "+role", "+lastsave", "+cluster|replicas", "+cluster|slaves",
		"+client|list", "+client|unblock", "+client|no-evict",
		"+slowlog|get", "+slowlog|len", "+latency|latest", "+latency|history", "+latency|histogram",
	}
}
