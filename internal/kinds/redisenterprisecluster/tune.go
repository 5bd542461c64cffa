// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// tuning is what servers are told while they run: who may log in, and settings that need no restart. A
// server that starts reads the same from files, which may be a minute old by then.
type tuning struct {
	commands   []redis.Command
	generation string
}

// tuning is what all servers shall be told. It has no generation before there are passwords.
func (f facts) tuning(c *redisv1alpha1.RedisEnterpriseCluster) tuning {
	hashes := f.credentials.stored()
	if len(hashes) == 0 || f.credentials.problem(c) != "" {
		return tuning{}
	}
	var out tuning
	for _, name := range slices.Compact([]string{"default", f.credentials.login(c)}) {
		out.commands = append(out.commands, permit(name, hashes))
	}
	values := settings(c, live)
	for _, name := range sortedKeys(values) {
		out.commands = append(out.commands, redis.Command{"CONFIG", "SET", name, strings.TrimSpace(values[name])})
	}
	out.generation = hashOf(fmt.Sprint(out.commands))
	return out
}

// permit has a user be let in by some passwords and no others, as internal/agents/redisserver writes it down. Servers
// that an operator started whose users had other rights get those that they have now.
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

// tuned tells, by what each run of a server was told, whether all servers have been told it.
func (all servers) tuned(t tuning) func(map[string]string) bool {
	return func(told map[string]string) bool {
		return t.generation != "" && len(all) > 0 && !slices.ContainsFunc(all, func(s server) bool {
			return !s.answers || told[s.run] != t.generation
		})
	}
}

// untuned are the servers that answer and have yet to be told.
func (all servers) untuned(t tuning, told map[string]string) servers {
	if t.generation == "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(s server) bool { return !s.answers || told[s.run] == t.generation })
}

// tune tells servers. One that does not answer is told later; what one refuses is not told again before it starts again
// or something else is wanted.
func (r *reconciler) tune(ctx context.Context, c *redisv1alpha1.RedisEnterpriseCluster, t tuning, whom, all servers) error {
	key := client.ObjectKeyFromObject(c)
	err := r.prober.Do(ctx, key, func(ctx context.Context, store redis.Store) error {
		var errs []error
		for _, s := range whom {
			err := t.tell(ctx, store, s.address)
			refusal, refused := errors.AsType[*redis.Refusal](err)
			switch {
			case refused:
				r.memory.told(key, s.run, t.generation, refusal.Text)
			case err != nil:
				errs = append(errs, err)
			default:
				r.memory.told(key, s.run, t.generation, "")
			}
		}
		return errors.Join(errs...)
	})
	runs := map[string]bool{}
	for _, s := range all {
		runs[s.run] = true
	}
	r.memory.keep(key, runs)
	if err != nil {
		r.memory.note(key, r.Clock.Now(), err.Error())
		return kit.ErrNotNow
	}
	r.memory.took(key)
	return nil
}

// tell sends the commands one by one, so that a refusal keeps no other from being carried out.
func (t tuning) tell(ctx context.Context, store redis.Store, address string) error {
	var refused error
	for _, command := range t.commands {
		_, err := store.Do(ctx, address, command)
		refusal, is := errors.AsType[*redis.Refusal](err)
		switch {
		case is && refused == nil:
			refused = &redis.Refusal{Text: fmt.Sprintf("%v: %s", command[2], refusal.Text)}
		case !is && err != nil:
			return err
		}
	}
	return refused
}
