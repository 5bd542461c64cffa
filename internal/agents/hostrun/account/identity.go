// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package account looks up a user of the host and the groups of that user. It reads the host's files, or calls getent
// of the host. It does not switch to the user.
package account

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/opcrew/opcrew/internal/agents/hostrun/program"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

const (
	passwdFile = "/etc/passwd"
	groupFile  = "/etc/group"
)

// Identity describes the host user who runs a command.
type Identity struct {
	Name   string `json:"name"`
	UID    int    `json:"uid"`
	GID    int    `json:"gid"`
	Groups []int  `json:"groups"`
	Home   string `json:"home"`
	Shell  string `json:"program.Shell"`
}

// Resolve looks up a user in the files of the host. If the user is not there, it uses the host's getent, which may
// query a directory service.
func Resolve(user string) (Identity, *hostjob.Result) {
	passwd, err := readIfThere(passwdFile)
	if err != nil {
		return Identity{}, hostjob.Refuse(hostjob.ReasonUserLookup, "the users of the host cannot be read: %v", err)
	}
	found, ok := findEntry(passwd, user)
	if !ok {
		return ask(user)
	}
	group, err := readIfThere(groupFile)
	if err != nil {
		return Identity{}, hostjob.Refuse(hostjob.ReasonUserLookup, "the groups of the host cannot be read: %v", err)
	}
	return found.identity(groupsOf(group, found.name)), nil
}

// ask looks up a user with getent of the host.
func ask(user string) (Identity, *hostjob.Result) {
	unknown := hostjob.Refuse(hostjob.ReasonUnknownUser, "the host has no user %q", user)
	line, err := getent("passwd", user)
	switch {
	case errors.Is(err, errNoGetent), errors.Is(err, errNoEntry):
		return Identity{}, unknown
	case err != nil:
		return Identity{}, hostjob.Refuse(hostjob.ReasonUserLookup, "the lookup of user %q on the host failed: %v", user, err)
	}
	found, ok := parseEntry(line)
	if _, matches := findEntry(line, user); !ok || !matches && isNumeric(user) {
		return Identity{}, unknown
	}
	groups, err := getent("initgroups", found.name)
	if err != nil {
		return Identity{}, hostjob.Refuse(hostjob.ReasonUserLookup, "the lookup of the groups of user %q on the host failed: %v", found.name, err)
	}
	return found.identity(parseInitgroups(groups, found.name)), nil
}

func (a entry) identity(groups []uint32) Identity {
	who := Identity{Name: a.name, UID: int(a.uid), GID: int(a.gid), Groups: []int{int(a.gid)}, Home: a.home, Shell: a.shell}
	for _, gid := range groups {
		if !slices.Contains(who.Groups, int(gid)) {
			who.Groups = append(who.Groups, int(gid))
		}
	}
	if who.Home == "" {
		who.Home = "/"
	}
	if who.Shell == "" {
		who.Shell = program.Shell
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
