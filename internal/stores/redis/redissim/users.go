// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"slices"
	"strings"
)

// settings are some of those that CONFIG SET knows. The bool reports that it can be changed.
var settings = map[string]bool{
	"maxmemory-policy": true, "timeout": true, "hz": true, "slowlog-max-len": true, "maxclients": true, "databases": false, "io-threads": false,
}

// acl is ACL SETUSER, of which only passwords mean anything here, and that replicas may copy it.
func (n *node) acl(args []string) (any, error) {
	if args[0] != "SETUSER" {
		return nil, refuse("ERR unknown subcommand '%s'. Try ACL HELP.", args[0])
	}
	user := args[1]
	for _, rule := range args[2:] {
		switch hash, isHash := strings.CutPrefix(rule, "#"); {
		case rule == "resetpass":
			n.users[user] = nil
		case rule == "+psync":
			n.barred = false
		case isHash && !slices.Contains(n.users[user], hash):
			n.users[user] = append(slices.Clone(n.users[user]), hash)
		}
	}
	return "OK", nil
}

// configure is CONFIG SET of one setting.
func (n *node) configure(args []string) (any, error) {
	if args[0] != "SET" {
		return nil, refuse("ERR unknown subcommand '%s'. Try CONFIG HELP.", args[0])
	}
	changes, known := settings[args[1]]
	switch {
	case !known:
		return nil, refuse("ERR Unknown option or number of arguments for CONFIG SET - '%s'", args[1])
	case !changes:
		return nil, refuse("ERR CONFIG SET failed (possibly related to argument '%s') - can't set immutable config", args[1])
	}
	n.config[args[1]] = args[2]
	return "OK", nil
}

// Setting is what a process has been told by CONFIG SET; "" if nothing.
func (w *World) Setting(address, name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := w.running[address]; n != nil {
		return n.config[name]
	}
	return ""
}
