// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"errors"
	"fmt"
)

// ready says why a pod has not its role in the ring; nil: it has. A pod counts as ready only
// when its shard and its neighbour's each have a primary and a replica on two pods, as far as
// they are this pod's. So a drain, which waits for pods that are ready, never takes both.
func (v view) ready() error {
	return errors.Join(
		about("home", v.home, v.home.ledHere()),
		about("guest", v.guest, v.guest.followed()))
}

// about reports a server in a place; wrong is what it does wrong when it answers at all.
func about(place string, s status, wrong error) error {
	switch {
	case s.err != nil:
		return fmt.Errorf("%s does not answer: %w", place, s.err)
	case s.loading():
		return fmt.Errorf("%s is loading its data", place)
	case wrong != nil:
		return fmt.Errorf("%s %w", place, wrong)
	case !s.ok():
		return fmt.Errorf("%s does not see most primaries of its cluster, or not all slots: cluster_state is %q", place, s.state["cluster_state"])
	}
	return nil
}

func (s status) ledHere() error {
	switch {
	case !s.primary():
		return errors.New("is a replica: its shard is led elsewhere")
	case s.slots() == 0:
		return errors.New("has no slots")
	}
	return nil
}

func (s status) followed() error {
	switch {
	case s.primary():
		return errors.New("is no replica")
	case !s.linkUp():
		return errors.New("has no link to its primary")
	}
	return nil
}
