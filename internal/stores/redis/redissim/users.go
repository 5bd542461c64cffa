// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"slices"
	"strings"
)

// settings holds some settings of Redis, and whether CONFIG SET can change each of them.
var settings = map[string]bool{
	"maxmemory-policy": true, "timeout": true, "hz": true, "slowlog-max-len": true, "maxclients": true, "databases": false, "io-threads": false,
}

// acl implements ACL SETUSER. Only passwords and the permission to replicate have an effect.
func (n console) acl(args []string) (any, error) {
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

// configure implements CONFIG SET for one setting.
func (n console) configure(args []string) (any, error) {
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

// Setting returns the value that CONFIG SET gave to a setting of a server; "" if it was not set.
func (w *World) Setting(address, name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := w.running[address]; n != nil {
		return n.config[name]
	}
	return ""
}
