// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redispod is the contract between the operator and the programs in a Redis pod: the user with which they log
// in, the paths of Secrets, the rights of users, and the settings that need a restart. internal/agents has the
// programs.
package redispod

import (
	"crypto/sha256"
	"encoding/hex"
)

// System is the user with which the operator, the agents and replicas log in.
const System = "opcrew"

// Files of the two Secrets, relative to the folder in which both are mounted.
const (
	UsernameFile = "users/username"
	PasswordFile = "system/password"
	AcceptedFile = "system/accepted"
)

// Hash returns the hash of a password in the format of ACL rules.
func Hash(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

// SystemRules returns the rules of the user System, in the syntax of ACL SETUSER.
func SystemRules() []string { return []string{"~*", "&*", "+@all"} }

// UserRules returns the ACL rules of users. They allow what applications, cluster clients and read-only tools need,
// but nothing that reveals the password of System, stops a server or changes the owners of slots.
func UserRules() []string {
	return []string{
		"~*", "&*", "+@all", "-@admin", "-@dangerous",
		// Commands that are merely slow, or only affect the users' own data.
		"+keys", "+sort", "+sort_ro", "+flushall", "+flushdb", "+restore",
		// Commands that only read.
		"+info", "+role", "+lastsave", "+cluster|replicas", "+cluster|slaves",
		"+client|list", "+client|unblock", "+client|no-evict",
		"+slowlog|get", "+slowlog|len", "+latency|latest", "+latency|history", "+latency|histogram",
	}
}
