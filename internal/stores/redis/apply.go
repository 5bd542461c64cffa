// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// Apply executes a step. The view from which the step was decided may be outdated. So a step that could harm a
// different server at the same address checks that server first.
func Apply(ctx context.Context, store Store, step Step) error {
	if err := step.Apply(ctx, store); err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	return nil
}

// Apply introduces the servers to each other.
func (s Introduce) Apply(ctx context.Context, store Store) error {
	sure := map[string]bool{}
	byAt := map[string][]Command{}
	for _, m := range s.Meetings {
		if !sure[m.To] {
			if err := server.Confirm(ctx, store, m.To, m.ID); err != nil {
				return err
			}
			sure[m.To] = true
		}
		host, port, err := net.SplitHostPort(m.To)
		if err != nil {
			return err
		}
		byAt[m.At] = append(byAt[m.At], server.ClusterCommand("MEET", host, port))
	}
	for _, at := range slices.Sorted(maps.Keys(byAt)) {
		if _, err := store.Do(ctx, at, byAt[at]...); err != nil {
			return err
		}
	}
	return nil
}

// Apply gives each new server the configuration epoch that the step contains.
func (s SetEpoch) Apply(ctx context.Context, store Store) error {
	for _, address := range slices.Sorted(maps.Keys(s.Epochs)) {
		epoch := strconv.FormatUint(s.Epochs[address], 10)
		_, err := store.Do(ctx, address, server.ClusterCommand("SET-CONFIG-EPOCH", epoch))
		if err != nil && !server.Refused(err, "ERR") { // ERR: the server already has an epoch, or knows other servers
			return err
		}
	}
	return nil
}

// Apply gives the primary the highest epoch of the cluster.
func (s RaiseEpoch) Apply(ctx context.Context, store Store) error {
	_, err := store.Do(ctx, s.Address, server.ClusterCommand("BUMPEPOCH"))
	return err
}

// Apply assigns slots that no server owns.
func (s AssignSlots) Apply(ctx context.Context, store Store) error {
	for _, address := range slices.Sorted(maps.Keys(s.Slots)) {
		var commands []Command
		if s.Outrank {
			commands = append(commands, server.ClusterCommand("BUMPEPOCH"))
		}
		command := server.ClusterCommand("ADDSLOTSRANGE")
		for _, r := range s.Slots[address] {
			command = append(command, r.First, r.Last)
		}
		if _, err := store.Do(ctx, address, append(commands, command)...); err != nil {
			return err
		}
	}
	return nil
}

// Apply lets replicas copy the given servers.
func (s Admit) Apply(ctx context.Context, store Store) error {
	var errs []error
	for _, address := range slices.Sorted(maps.Keys(s.Runs)) {
		errs = append(errs, admit(ctx, store, address, s.Runs[address]))
	}
	return errors.Join(errs...)
}

func admit(ctx context.Context, store Store, address, run string) error {
	answers, err := store.Do(ctx, address, Command{"INFO", "server"})
	if err != nil {
		return err
	}
	if server.Fields(server.Text(answers[0]))["run_id"] != run {
		return fmt.Errorf("another server has address %s now", address)
	}
	if _, err := store.Do(ctx, address, Command{"ACL", "SETUSER", store.Credentials().User, "+psync", "+sync"}); err != nil {
		return err
	}
	// The permission to replicate lasts beyond a restart only if the server can write its configuration file. If it
	// cannot, the operator grants the permission again after the restart.
	if _, err := store.Do(ctx, address, Command{"CONFIG", "REWRITE"}); err != nil && !server.Refused(err, "") {
		return err
	}
	return nil
}

// Apply makes the server a replica of the primary.
func (s Replicate) Apply(ctx context.Context, store Store) error {
	_, err := store.Do(ctx, s.Address, server.ClusterCommand("REPLICATE", s.PrimaryID))
	return err
}

// ErrNotElected reports that a replica should have become the primary but was not elected.
var ErrNotElected = errors.New("the replica was not elected")

// Apply requests the failover and waits for the election. It sends no second request meanwhile, because that would make
// the replica start over.
func (s TakeLead) Apply(ctx context.Context, store Store) error {
	if _, err := store.Do(ctx, s.Address, server.ClusterCommand("FAILOVER")); err != nil {
		if server.Refused(err, "You should send CLUSTER FAILOVER to a replica") { // the server is already the primary
			return nil
		}
		return err
	}
	return awaitLead(ctx, store, s.Address)
}

// glance is the time between two checks of whether a replica has become the primary.
const glance = 20 * time.Millisecond

func awaitLead(ctx context.Context, store Store, address string) error {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		answers, err := store.Do(ctx, address, Command{"ROLE"})
		if err != nil {
			return err
		}
		if role, ok := answers[0].([]any); ok && len(role) > 0 && server.Text(role[0]) == "master" {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s is not the primary yet: %w: %w", address, ErrNotElected, ctx.Err())
		}
	}
}

// Apply returns an error if the primary has come back, because a takeover would lose the primary's last writes.
func (s Takeover) Apply(ctx context.Context, store Store) error {
	status, err := store.Status(ctx, s.Address)
	if err != nil {
		return err
	}
	if status.LinkUp {
		return fmt.Errorf("%s is connected to its primary again, and no takeover is needed", s.Address)
	}
	_, err = store.Do(ctx, s.Address, server.ClusterCommand("FAILOVER", "TAKEOVER"))
	return err
}
