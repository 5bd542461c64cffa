// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package users

import (
	"math"
	"path"
	"strconv"
	"strings"
)

// The files of a host with its users and groups.
const (
	PasswdFile = "/etc/passwd"
	GroupFile  = "/etc/group"
)

// Accounts are the users and groups in the files of a host, by name.
type Accounts struct {
	Users  map[string]User
	Groups map[string]int
}

// User is an existing user of a host.
type User struct {
	UID, GID int
	Home     string
}

// Parse parses the files with users and groups. It skips lines that it cannot read, and the later of two lines with
// the same name, as logins do.
func Parse(passwd, group string) Accounts {
	out := Accounts{map[string]User{}, map[string]int{}}
	for line := range strings.Lines(passwd) {
		f := strings.Split(strings.TrimRight(line, "\n"), ":")
		if len(f) != 7 || !isEntry(f[0]) {
			continue
		}
		uid, okUID := id(f[2])
		gid, okGID := id(f[3])
		if _, twice := out.Users[f[0]]; okUID && okGID && !twice {
			out.Users[f[0]] = User{uid, gid, f[5]}
		}
	}
	for line := range strings.Lines(group) {
		f := strings.Split(strings.TrimRight(line, "\n"), ":")
		if len(f) != 4 || !isEntry(f[0]) {
			continue
		}
		gid, ok := id(f[2])
		if _, twice := out.Groups[f[0]]; ok && !twice {
			out.Groups[f[0]] = gid
		}
	}
	return out
}

// isEntry refuses lines that include NIS entries, and comments.
func isEntry(name string) bool { return name != "" && !strings.ContainsAny(name[:1], "+-#") }

// id refuses the highest number, because the kernel treats it as "unchanged".
func id(text string) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 32)
	return int(n), err == nil && n < math.MaxUint32
}

// KeysFile returns the path of the user's authorized_keys; false if the user has no home directory of its own.
func (u User) KeysFile() (string, bool) {
	if !path.IsAbs(u.Home) || path.Clean(u.Home) == "/" {
		return "", false
	}
	return path.Join(u.Home, ".ssh", "authorized_keys"), true
}
