// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redispod defines what the operator and the programs in a Redis pod must agree on: the Redis user with which
// they log in, the paths of Secrets, the rights of users, and the settings that require a restart. The programs are in
// internal/agents.
package redispod

import (
	"crypto/sha256"
	"encoding/hex"
)

// System is the Redis user as which the operator, the programs in the pods (internal/agents) and the replicas log in.
const System = "opcrew"

// These are files of two Secrets. Their paths are relative to the directory in which both Secrets are mounted.
const (
	UsernameFile = "users/username"
	PasswordFile = "system/password"
	AcceptedFile = "system/accepted"
)

// Hash returns the SHA-256 hash of a password in the format of Redis ACL rules.
func Hash(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

// SystemRules returns the ACL rules of the user System, in the syntax of ACL SETUSER.
func SystemRules() []string { return []string{"~*", "&*", "+@all"} }

// UserRules returns the ACL rules of ordinary users. They allow what applications, cluster clients and read-only tools
// need. They forbid commands that reveal the password of System, stop a server or change slot owners.
func UserRules() []string {
	return []string{
		"~*", "&*", "+@all", "-@admin", "-@dangerous",
		// These commands are allowed, because they are only slow, or affect only data of the users.
		"+keys", "+sort", "+sort_ro", "+flushall", "+flushdb", "+restore",
		// These commands are allowed, because they only read, or affect only one client.
		"+info", "+role", "+lastsave", "+cluster|replicas", "+cluster|slaves",
		"+client|list", "+client|unblock", "+client|no-evict",
		"+slowlog|get", "+slowlog|len", "+latency|latest", "+latency|history", "+latency|histogram",
	}
}
