// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package hostrun

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

const (
	passwdFile = "/etc/passwd"
	groupFile  = "/etc/group"
)

// identity is whom a command runs as.
type identity struct {
	Name   string `json:"name"`
	UID    int    `json:"uid"`
	GID    int    `json:"gid"`
	Groups []int  `json:"groups"`
	Home   string `json:"home"`
	Shell  string `json:"shell"`
}

// resolve finds a user of the host: in its files, and else wherever the host itself looks,
// such as a directory service.
func resolve(user string) (identity, *hostjob.Result) {
	passwd, err := readIfThere(passwdFile)
	if err != nil {
		return identity{}, notStarted(hostjob.ReasonUserLookup, "the users of the host cannot be read: %v", err)
	}
	found, ok := findAccount(passwd, user)
	if !ok {
		return ask(user)
	}
	group, err := readIfThere(groupFile)
	if err != nil {
		return identity{}, notStarted(hostjob.ReasonUserLookup, "the groups of the host cannot be read: %v", err)
	}
	return found.identity(groupsOf(group, found.name)), nil
}

// ask has the host itself look for a user that is not in its files.
func ask(user string) (identity, *hostjob.Result) {
	unknown := notStarted(hostjob.ReasonUnknownUser, "the host has no user %q", user)
	line, err := getent("passwd", user)
	switch {
	case errors.Is(err, errNoGetent), errors.Is(err, errNoEntry):
		return identity{}, unknown
	case err != nil:
		return identity{}, notStarted(hostjob.ReasonUserLookup, "the host was asked for the user %q: %v", user, err)
	}
	found, ok := parseAccount(line)
	if _, matches := findAccount(line, user); !ok || !matches && isNumeric(user) {
		return identity{}, unknown
	}
	groups, err := getent("initgroups", found.name)
	if err != nil {
		return identity{}, notStarted(hostjob.ReasonUserLookup, "the host was asked for the groups of %q: %v", found.name, err)
	}
	return found.identity(parseInitgroups(groups, found.name)), nil
}

func (a account) identity(groups []uint32) identity {
	who := identity{Name: a.name, UID: int(a.uid), GID: int(a.gid), Groups: []int{int(a.gid)}, Home: a.home, Shell: a.shell}
	for _, gid := range groups {
		if !slices.Contains(who.Groups, int(gid)) {
			who.Groups = append(who.Groups, int(gid))
		}
	}
	if who.Home == "" {
		who.Home = "/"
	}
	if who.Shell == "" {
		who.Shell = shell
	}
	return who
}

func readIfThere(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return string(text), nil
}
