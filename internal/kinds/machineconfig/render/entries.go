// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_5/types"

	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// Limits of Linux for a path and for each part of it.
const (
	maxPath = 4095
	maxName = 255
)

// reserved are folders whose content is not configuration, or which belongs to opcrew.
var reserved = []struct{ path, why string }{
	{"/proc", "it is not stored; for a kernel parameter write a file in /etc/sysctl.d"},
	{"/sys", "it is not stored; write a udev rule or a systemd unit"},
	{"/dev", "it is not stored; write a udev rule"},
	{"/run", "it is empty after a reboot; write a file in /etc/tmpfiles.d"},
	{"/var/lib/opcrew", "it belongs to opcrew; write to another folder"},
}

// checkEntries checks the paths, owners and sources of one config.
func checkEntries(s types.Storage, n *notes) {
	for i, file := range s.Files {
		field := fmt.Sprintf("%s.storage.files[%d]", configField, i)
		checkNode(file.Node, field, n)
		checkSource(file.Contents, field+".contents", n)
		for j, resource := range file.Append {
			checkSource(resource, fmt.Sprintf("%s.append[%d]", field, j), n)
		}
	}
	for i, directory := range s.Directories {
		checkNode(directory.Node, fmt.Sprintf("%s.storage.directories[%d]", configField, i), n)
	}
	for i, link := range s.Links {
		field := fmt.Sprintf("%s.storage.links[%d]", configField, i)
		checkNode(link.Node, field, n)
		if link.Target != nil && (strings.ContainsRune(*link.Target, 0) || len(*link.Target) > maxPath) {
			n.invalid(field+".target", "a target has at most %d bytes, and no NUL character", maxPath)
		}
	}
}

func checkNode(node types.Node, field string, n *notes) {
	if why := badPath(node.Path); why != "" {
		n.invalid(field+".path", "%q cannot be configured: %s", node.Path, why)
	}
	checkPrincipal(node.User.ID, node.User.Name, field+".user", n)
	checkPrincipal(node.Group.ID, node.Group.Name, field+".group", n)
}

// badPath returns why a path cannot be configured, and what to write instead; empty if it can.
func badPath(path string) string {
	switch {
	case strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "remove the control characters"
	case path == "/":
		return "it is the root of the host; write a path below it"
	case len(path) > maxPath:
		return fmt.Sprintf("write at most %d bytes", maxPath)
	}
	for name := range strings.SplitSeq(path, "/") {
		if len(name) > maxName {
			return fmt.Sprintf("write at most %d bytes between two slashes", maxName)
		}
	}
	for _, r := range reserved {
		if path == r.path || strings.HasPrefix(path, r.path+"/") {
			return r.why
		}
	}
	return ""
}

func checkPrincipal(id *int, name *string, field string, n *notes) {
	const most = 1<<32 - 2
	if id != nil && (*id < 0 || *id > most) {
		n.invalid(field+".id", "%d is not the number of a user or group: write 0 to %d", *id, most)
	}
	if name != nil && *name != "" && !accountName.MatchString(*name) {
		n.invalid(field+".name", badAccountName, *name)
	}
}

func newEntry(node types.Node) hostconfig.Entry {
	return hostconfig.Entry{
		Path:      node.Path,
		User:      newPrincipal(node.User.ID, node.User.Name),
		Group:     newPrincipal(node.Group.ID, node.Group.Name),
		Overwrite: node.Overwrite != nil && *node.Overwrite,
	}
}

func newPrincipal(id *int, name *string) hostconfig.Principal {
	out := hostconfig.Principal{ID: id}
	if name != nil {
		out.Name = *name
	}
	return out
}
