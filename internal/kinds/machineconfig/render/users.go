// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_5/types"

	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// accountName matches names of users and groups.
var accountName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,253}[$]?$`)

const badAccountName = "%q is not the name of a user or group: write letters, digits, '_', '-', '.' and '@'"

func checkUsers(users []types.PasswdUser, n *notes) {
	for i, user := range users {
		field := fmt.Sprintf("%s.passwd.users[%d]", configField, i)
		if !accountName.MatchString(user.Name) {
			n.invalid(field+".name", badAccountName, user.Name)
		}
		refuse(n, field+".", userSections(user))
		if hash := user.PasswordHash; hash != nil && strings.ContainsAny(*hash, ":\n\r\x00") {
			n.invalid(field+".passwordHash", "a password hash is one line without ':'; write a hash in the format of /etc/shadow")
		}
		for j, key := range user.SSHAuthorizedKeys {
			if strings.ContainsAny(string(key), "\x00") {
				n.invalid(fmt.Sprintf("%s.sshAuthorizedKeys[%d]", field, j), "a key must not contain a NUL character; write one line of authorized_keys")
			}
		}
	}
}

// userSections lists the fields that only matter for a user that is created.
func userSections(u types.PasswdUser) []section {
	const existing = "opcrew configures only users that exist, and only their sshAuthorizedKeys and passwordHash; remove the field, and create the user in the image of the machine"
	return []section{
		{"uid", u.UID != nil, existing},
		{"gecos", u.Gecos != nil, existing},
		{"groups", len(u.Groups) > 0, existing},
		{"homeDir", u.HomeDir != nil, existing},
		{"noCreateHome", u.NoCreateHome != nil, existing},
		{"noLogInit", u.NoLogInit != nil, existing},
		{"noUserGroup", u.NoUserGroup != nil, existing},
		{"primaryGroup", u.PrimaryGroup != nil, existing},
		{"shell", u.Shell != nil, existing},
		{"shouldExist", u.ShouldExist != nil, existing},
		{"system", u.System != nil, existing},
	}
}

func newUsers(users []types.PasswdUser) []hostconfig.User {
	out := make([]hostconfig.User, 0, len(users))
	for _, user := range users {
		out = append(out, hostconfig.User{
			Name: user.Name, SSHAuthorizedKeys: keyLines(user.SSHAuthorizedKeys), PasswordHash: user.PasswordHash,
		})
	}
	return sorted(out, func(u hostconfig.User) string { return u.Name })
}

// keyLines returns one line per key. An item may have several lines, because YAML block scalars end in a line break.
// Comments are left out.
func keyLines(keys []types.SSHAuthorizedKey) []string {
	var out []string
	for _, key := range keys {
		for line := range strings.Lines(string(key)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				out = append(out, line)
			}
		}
	}
	return out
}
