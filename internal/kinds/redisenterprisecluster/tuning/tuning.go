// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tuning determines the commands that running servers need: for the users' passwords, and for settings that
// need no restart. A starting server reads the same values from files, but the kubelet may take a minute to update
// these files.
package tuning

import (
	"fmt"
	"slices"
	"strings"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/access"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/observed"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// Tuning holds the commands that every server should execute once after each start. Generation is a hash of the
// commands; "" while there are no passwords yet.
type Tuning struct {
	Commands   []redis.Command
	Generation string
}

// For returns the passwords and settings that the servers of a cluster should have, as commands. The result is empty
// while the users' Secret is unusable, so that servers keep their current passwords and settings.
func For(c *redisv1alpha1.RedisEnterpriseCluster, credentials access.Credentials) Tuning {
	hashes := credentials.Stored()
	if len(hashes) == 0 || credentials.Problem(c) != "" {
		return Tuning{}
	}
	var out Tuning
	for _, name := range slices.Compact([]string{"default", credentials.Username(c)}) {
		out.Commands = append(out.Commands, permit(name, hashes))
	}
	values := desired.Settings(c, desired.Live)
	for _, name := range desired.SortedKeys(values) {
		out.Commands = append(out.Commands, redis.Command{"CONFIG", "SET", name, strings.TrimSpace(values[name])})
	}
	out.Generation = desired.Hash(fmt.Sprint(out.Commands))
	return out
}

// permit returns a command that lets a user log in with the given passwords only. It also updates the user's
// permissions on servers that an older operator started. internal/agents/redisserver grants the same permissions at
// start.
func permit(name string, hashes []string) redis.Command {
	out := redis.Command{"ACL", "SETUSER", name, "on", "resetpass"}
	for _, hash := range hashes {
		out = append(out, "#"+hash)
	}
	for _, rule := range redispod.UserRules() {
		out = append(out, rule)
	}
	return out
}

// IsComplete reports whether all servers have these passwords and settings. tuned maps the Run of each server, which
// identifies one start of the server, to the generation that the server has.
func (t Tuning) IsComplete(all observed.Servers, tuned map[string]string) bool {
	return t.Generation != "" && len(all) > 0 && !slices.ContainsFunc(all, func(s observed.Server) bool {
		return !s.Answers || tuned[s.Run] != t.Generation
	})
}

// Pending returns the servers that answer but do not have these passwords and settings yet.
func (t Tuning) Pending(all observed.Servers, tuned map[string]string) observed.Servers {
	if t.Generation == "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(s observed.Server) bool { return !s.Answers || tuned[s.Run] == t.Generation })
}
