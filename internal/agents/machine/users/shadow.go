// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package users

import "strings"

// ShadowFile holds the hashes of passwords.
const ShadowFile = "/etc/shadow"

// Hash returns the password hash of a user; false if the file has no line for the user.
func Hash(shadow, user string) (string, bool) {
	from, to, found := field(shadow, user)
	return shadow[from:to], found
}

// SetHash replaces the password hash of a user. It returns the file unchanged if it has no line for the user.
func SetHash(shadow, user, hash string) string {
	from, to, found := field(shadow, user)
	if !found || strings.ContainsAny(hash, ":\n") {
		return shadow
	}
	return shadow[:from] + hash + shadow[to:]
}

// field returns where the hash of a user begins and ends.
func field(shadow, user string) (from, to int, found bool) {
	at := 0
	for line := range strings.Lines(shadow) {
		if rest, is := strings.CutPrefix(line, user+":"); is && user != "" {
			if length := strings.IndexByte(rest, ':'); length >= 0 {
				return at + len(user) + 1, at + len(user) + 1 + length, true
			}
		}
		at += len(line)
	}
	return 0, 0, false
}
