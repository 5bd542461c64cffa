// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tuning determines what running servers are sent: the users' passwords, and settings that need no restart. A
// server that starts reads the same from files, but these may be a minute old by then.
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

// Tuning holds the commands that every server should carry out once per start. Generation is a hash of them; "" before
// there are passwords.
type Tuning struct {
	Commands   []redis.Command
	Generation string
}

// For returns the tuning of a cluster. It is empty while the users' Secret is unusable, so that servers keep what they
// have.
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

// permit lets a user log in with the given passwords and no others, like internal/agents/redisserver. Servers that
// started under an operator with other permissions for users get the current ones.
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

// IsComplete reports whether all servers have the tuning; tuned is the generation that each run of a server has.
func (t Tuning) IsComplete(all observed.Servers, tuned map[string]string) bool {
	return t.Generation != "" && len(all) > 0 && !slices.ContainsFunc(all, func(s observed.Server) bool {
		return !s.Answers || tuned[s.Run] != t.Generation
	})
}

// Pending returns the servers that answer and do not have the tuning yet.
func (t Tuning) Pending(all observed.Servers, tuned map[string]string) observed.Servers {
	if t.Generation == "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(s observed.Server) bool { return !s.Answers || tuned[s.Run] == t.Generation })
}
