// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissecrets

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
