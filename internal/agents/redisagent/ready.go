// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"errors"
	"fmt"
)

// ready returns why a pod is not ready; nil if it is. In a ready pod, the home server is the primary of its shard, and
// the guest server is a replica of the neighbour's shard. If all pods are ready, each shard is in two pods. A drain
// that waits for ready pods therefore never removes both pods of a shard.
func (v view) ready() error {
	return errors.Join(
		about("home", v.home, v.home.leadsShard()),
		about("guest", v.guest, v.guest.followsPrimary()))
}

// about returns what is wrong with a server. wrong is an error about the server's role. about returns wrong only if the
// server responds and has loaded its data.
func about(place string, s status, wrong error) error {
	switch {
	case s.err != nil:
		return fmt.Errorf("%s does not respond: %w", place, s.err)
	case s.loading():
		return fmt.Errorf("%s is loading its data", place)
	case wrong != nil:
		return fmt.Errorf("%s %w", place, wrong)
	case !s.ok():
		return fmt.Errorf("%s reports cluster_state %q, because it cannot reach most primaries or some slots have no owner", place, s.state["cluster_state"])
	}
	return nil
}

func (s status) leadsShard() error {
	switch {
	case !s.primary():
		return errors.New("is a replica, so another server is the primary of its shard")
	case s.slots() == 0:
		return errors.New("has no slots")
	}
	return nil
}

func (s status) followsPrimary() error {
	switch {
	case s.primary():
		return errors.New("is not a replica")
	case !s.linkUp():
		return errors.New("has no link to its primary")
	}
	return nil
}
