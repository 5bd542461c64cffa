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
)

// Apply takes a step. What it was decided on has been seen a moment ago: where a step would
// do harm to another process than was meant, that is asked again first.
func Apply(ctx context.Context, store Store, step Step) error {
	if err := step.apply(ctx, store); err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	return nil
}

// confirm asks whether a process still is who it was.
func confirm(ctx context.Context, store Store, address, id string) error {
	answers, err := store.Do(ctx, address, clusterCommand("MYID"))
	if err != nil {
		return err
	}
	if now := text(answers[0]); now != id {
		return fmt.Errorf("%s is %s by now, and not %s", address, now, id)
	}
	return nil
}

func (s Introduce) apply(ctx context.Context, store Store) error {
	sure := map[string]bool{}
	byAt := map[string][]Command{}
	for _, m := range s.Meetings {
		if !sure[m.To] {
			if err := confirm(ctx, store, m.To, m.ID); err != nil {
				return err
			}
			sure[m.To] = true
		}
		host, port, err := net.SplitHostPort(m.To)
		if err != nil {
			return err
		}
		byAt[m.At] = append(byAt[m.At], clusterCommand("MEET", host, port))
	}
	for _, at := range slices.Sorted(maps.Keys(byAt)) {
		if _, err := store.Do(ctx, at, byAt[at]...); err != nil {
			return err
		}
	}
	return nil
}

func (s SetEpoch) apply(ctx context.Context, store Store) error {
	for _, address := range slices.Sorted(maps.Keys(s.Epochs)) {
		epoch := strconv.FormatUint(s.Epochs[address], 10)
		_, err := store.Do(ctx, address, clusterCommand("SET-CONFIG-EPOCH", epoch))
		if err != nil && !refused(err, "ERR") { // it has one by now, or knows others
			return err
		}
	}
	return nil
}

func (s AssignSlots) apply(ctx context.Context, store Store) error {
	for _, address := range slices.Sorted(maps.Keys(s.Slots)) {
		var commands []Command
		if s.Outrank {
			commands = append(commands, clusterCommand("BUMPEPOCH"))
		}
		command := clusterCommand("ADDSLOTSRANGE")
		for _, r := range s.Slots[address] {
			command = append(command, r.First, r.Last)
		}
		if _, err := store.Do(ctx, address, append(commands, command)...); err != nil {
			return err
		}
	}
	return nil
}

func (s Admit) apply(ctx context.Context, store Store) error {
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
	if fields(text(answers[0]))["run_id"] != run {
		return fmt.Errorf("another server has %s by now", address)
	}
	if _, err := store.Do(ctx, address, Command{"ACL", "SETUSER", store.Credentials().User, "+psync", "+sync"}); err != nil {
		return err
	}
	// A server that cannot is admitted again when it is started again.
	if _, err := store.Do(ctx, address, Command{"CONFIG", "REWRITE"}); err != nil && !refused(err, "") {
		return err
	}
	return nil
}

func (s Replicate) apply(ctx context.Context, store Store) error {
	_, err := store.Do(ctx, s.Address, clusterCommand("REPLICATE", s.PrimaryID))
	return err
}

// ErrNotElected reports that a replica was asked to take the lead, and does not.
var ErrNotElected = errors.New("it was not elected")

// apply waits for the election: asked again while it goes on, the replica would begin again.
func (s TakeLead) apply(ctx context.Context, store Store) error {
	if _, err := store.Do(ctx, s.Address, clusterCommand("FAILOVER")); err != nil {
		if refused(err, "You should send CLUSTER FAILOVER to a replica") { // it leads
			return nil
		}
		return err
	}
	return awaitLead(ctx, store, s.Address)
}

// glance is between two questions whether a replica leads.
const glance = 20 * time.Millisecond

func awaitLead(ctx context.Context, store Store, address string) error {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		answers, err := store.Do(ctx, address, Command{"ROLE"})
		if err != nil {
			return err
		}
		if role, ok := answers[0].([]any); ok && len(role) > 0 && text(role[0]) == "master" {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s does not lead yet: %w: %w", address, ErrNotElected, ctx.Err())
		}
	}
}

// apply asks whether the primary is back first: what is taken over is lost to it.
func (s Takeover) apply(ctx context.Context, store Store) error {
	status, err := store.Status(ctx, s.Address)
	if err != nil {
		return err
	}
	if status.LinkUp {
		return fmt.Errorf("%s has found its primary again", s.Address)
	}
	_, err = store.Do(ctx, s.Address, clusterCommand("FAILOVER", "TAKEOVER"))
	return err
}
