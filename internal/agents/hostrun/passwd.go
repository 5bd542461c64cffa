// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostrun

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// account is a line of a passwd file.
type account struct {
	name        string
	uid, gid    uint32
	home, shell string
}

// findAccount looks for a name, and then, if the name is a number, for a uid.
func findAccount(passwd, user string) (account, bool) {
	number, numeric := parseID(user)
	byNumber, found := account{}, false
	for line := range strings.Lines(passwd) {
		a, ok := parseAccount(line)
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

func parseAccount(line string) (account, bool) {
	f := strings.Split(strings.TrimRight(line, "\r\n"), ":")
	// A name with + or - in front is an order to ask NIS, and no one's.
	if len(f) != 7 || f[0] == "" || strings.ContainsAny(f[0][:1], "+-#") {
		return account{}, false
	}
	uid, okUID := parseID(f[2])
	gid, okGID := parseID(f[3])
	return account{name: f[0], uid: uid, gid: gid, home: f[5], shell: f[6]}, okUID && okGID
}

// parseID accepts one spelling of a number only: +0 and 00 are not another name for root.
// The highest number means "leave it as it is" to the kernel, which would be root.
func parseID(text string) (uint32, bool) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err == nil && n < math.MaxUint32 && strconv.FormatUint(n, 10) == text
}

// groupsOf are the groups that list a user as a member.
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

// parseInitgroups reads what getent says of a user: its name, and numbers.
func parseInitgroups(line, user string) []uint32 {
	var out []uint32
	for field := range strings.FieldsSeq(strings.TrimPrefix(line, user)) {
		if gid, ok := parseID(field); ok {
			out = append(out, gid)
		}
	}
	return out
}

// isNumeric says that a program might take a name for a number: some accept signs and spaces.
func isNumeric(name string) bool { return strings.Trim(name, " \t+-0123456789") == "" }
