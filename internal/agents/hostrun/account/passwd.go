// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package account

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// entry is one line of a passwd file.
type entry struct {
	name        string
	uid, gid    uint32
	home, shell string
}

// findEntry returns the entry with the given name. If there is none and the name is a number, it returns the entry with
// this UID.
func findEntry(passwd, user string) (entry, bool) {
	number, numeric := parseID(user)
	byNumber, found := entry{}, false
	for line := range strings.Lines(passwd) {
		a, ok := parseEntry(line)
		switch {
		case !ok:
		case a.name == user:
			return a, true
		case numeric && a.uid == number && !found:
			byNumber, found = a, true
		}
	}
	return byNumber, found
}

func parseEntry(line string) (entry, bool) {
	f := strings.Split(strings.TrimRight(line, "\r\n"), ":")
	// A line that starts with + or - includes NIS entries, and # starts a comment. Neither is a user.
	if len(f) != 7 || f[0] == "" || strings.ContainsAny(f[0][:1], "+-#") {
		return entry{}, false
	}
	uid, okUID := parseID(f[2])
	gid, okGID := parseID(f[3])
	return entry{name: f[0], uid: uid, gid: gid, home: f[5], shell: f[6]}, okUID && okGID
}

// parseID parses a UID or GID. It accepts only one spelling of each number, so that +0 and 00 are not root. It refuses
// the highest number, because the kernel treats it as "unchanged", which here would be root.
func parseID(text string) (uint32, bool) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err == nil && n < math.MaxUint32 && strconv.FormatUint(n, 10) == text
}

// groupsOf returns the groups that list a user as member.
func groupsOf(group, user string) []uint32 {
	var out []uint32
	for line := range strings.Lines(group) {
		f := strings.Split(strings.TrimRight(line, "\r\n"), ":")
		if len(f) != 4 || !slices.Contains(strings.Split(f[3], ","), user) {
			continue
		}
		if gid, ok := parseID(f[2]); ok {
			out = append(out, gid)
		}
	}
	return out
}

// parseInitgroups parses a line of getent initgroups: the name of a user and the numbers of the user's groups.
func parseInitgroups(line, user string) []uint32 {
	var out []uint32
	for field := range strings.FieldsSeq(strings.TrimPrefix(line, user)) {
		if gid, ok := parseID(field); ok {
			out = append(out, gid)
		}
	}
	return out
}

// isNumeric reports whether a program could mistake a name for a number. Some programs accept signs and spaces in
// numbers.
func isNumeric(name string) bool { return strings.Trim(name, " \t+-0123456789") == "" }
