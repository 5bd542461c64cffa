// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/opcrew/opcrew/internal/agents/machine/daemon/cluster"
	"github.com/opcrew/opcrew/internal/agents/machine/daemon/decide"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// preflight checks whether the host can have the configuration of an order. Apart from a copy of the configuration in
// the agent's directory, it changes nothing.
func (a *Agent) preflight(ctx context.Context, o *machineorder.Order) error {
	check := decide.Check{Config: o.Config, Digest: o.Digest, At: a.now.Uptime}
	problem, err := a.examine(ctx, o)
	if err != nil {
		return err
	}
	if problem != nil {
		check.Problem = problem.Error()
		a.Log.Warn("The order is refused, and nothing was changed", "config", o.Config, "reason", check.Problem)
	}
	a.check = &check
	return nil
}

// examine returns a problem that another attempt would not solve, or an error.
func (a *Agent) examine(ctx context.Context, o *machineorder.Order) (problem, err error) {
	current, err := a.current()
	if err != nil {
		return nil, err
	}
	if problem, err := a.fetch(ctx, o, current); problem != nil || err != nil {
		return problem, err
	}
	// Without the previous configuration, a node that is cut off could not revert.
	if problem, err := a.fetch(ctx, &machineorder.Order{Config: current}, ""); problem != nil || err != nil {
		return problem, err
	}
	c, err := a.config(o.Config)
	if err != nil {
		return nil, err
	}
	_, problem = a.Host.Plan(ctx, c)
	return problem, ctx.Err()
}

// current returns the name of the configuration that the host has.
func (a *Agent) current() (string, error) {
	l, err := a.Host.Store.Load()
	return cmp.Or(l.Config, machineorder.None), err
}

// fetch copies a configuration to the host, unless it is there. An order without a digest accepts any content.
func (a *Agent) fetch(ctx context.Context, o *machineorder.Order, current string) (problem, err error) {
	if o.Config == machineorder.None {
		return nil, nil
	}
	encoded, err := a.Trial.Encoded(o.Config)
	if err != nil || encoded != nil && isAsOrdered(encoded, o) == nil {
		return nil, err
	}
	if encoded != nil && o.Config == current {
		return fmt.Errorf("the host has %s with another content, and equal names must have equal contents: change a MachineConfig of the pool", current), nil
	}
	if encoded, err = a.Cluster.Config(ctx, o.Config); err != nil {
		if refusal := (*cluster.Refusal)(nil); errors.As(err, &refusal) {
			return refusal, nil
		}
		return nil, err
	}
	if problem := isAsOrdered(encoded, o); problem != nil {
		return problem, nil
	}
	return nil, a.Trial.Keep(o.Config, encoded)
}

// isAsOrdered returns an error if a configuration is not the one that an order names.
func isAsOrdered(encoded []byte, o *machineorder.Order) error {
	if digest := hostconfig.Digest(encoded); o.Digest != "" && digest != o.Digest {
		return fmt.Errorf("the Secret %s does not have the content that the order names: it has %s instead of %s", o.Config, digest, o.Digest)
	}
	c, err := hostconfig.Parse(encoded)
	switch {
	case err != nil:
		return fmt.Errorf("the Secret %s: %w", o.Config, err)
	case c.Name != o.Config:
		return fmt.Errorf("the Secret %s has a configuration with another name, %s", o.Config, c.Name)
	}
	return nil
}

// config returns a configuration that is on the host.
func (a *Agent) config(name string) (hostconfig.Config, error) {
	if name == machineorder.None {
		return hostconfig.Config{Name: machineorder.None}, nil
	}
	return a.Trial.Config(name)
}
