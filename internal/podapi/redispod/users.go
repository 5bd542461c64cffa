// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redispod is the contract between the operator and the programs in a Redis pod: the user that they log in as,
// the paths of Secrets, the rights of users, and the settings that need a restart. internal/agents has the programs.
package redispod

import (
	"crypto/sha256"
	"encoding/hex"
)

// System is the user that the operator, the agents and replicas log in as.
const System = "opcrew"

// Files of the Secrets, relative to the folder that both are mounted in.
const (
	UsernameFile = "users/username"
	PasswordFile = "system/password"
	AcceptedFile = "system/accepted"
)

// Hash returns the hash of a password that servers use.
func Hash(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

// SystemRules are the rules of the user System, in the syntax of ACL SETUSER.
func SystemRules() []string { return []string{"~*", "&*", "+@all"} }

// UserRules are the rules of users: everything that applications, cluster clients and read-only tools need, and nothing that
// shows the password of System, stops a server or changes the owners of slots.
func UserRules() []string {
	return []string{
		"~*", "&*", "+@all", "-@admin", "-@dangerous",
		// Commands that are only slow, or only affect the users' own data.
		"+keys", "+sort", "+sort_ro", "+flushall", "+flushdb", "+restore",
		// Commands that only read.
		"+info", "+role", "+lastsave", "+cluster|replicas", "+cluster|slaves",
		"+client|list", "+client|unblock", "+client|no-evict",
		"+slowlog|get", "+slowlog|len", "+latency|latest", "+latency|history", "+latency|histogram",
	}
}
