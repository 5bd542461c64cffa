// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// refusals are etcd's errors, and those of this package.
var refusals = []struct{ theirs, ours error }{
	{rpctypes.ErrMemberLearnerNotReady, ErrLearnerNotReady},
	{rpctypes.ErrUnhealthy, ErrUnhealthy},
	{rpctypes.ErrMemberNotEnoughStarted, ErrUnhealthy},
	{rpctypes.ErrMemberNotFound, ErrMemberNotFound},
	{rpctypes.ErrPeerURLExist, ErrPeerURLExists},
	{rpctypes.ErrMemberExist, ErrPeerURLExists}, // IDs are computed from the peer URL and the second
	{rpctypes.ErrTooManyLearners, ErrTooManyLearners},
	{rpctypes.ErrMemberNotLearner, ErrNotLearner},
	{rpctypes.ErrNoLeader, ErrNoLeader},
	{rpctypes.ErrNotLeader, ErrNotLeader},
	{rpctypes.ErrCompacted, ErrCompacted},
}

// typed turns etcd's refusals into the errors of this package. A timeout stays the error of the context.
func typed(err error) error {
	if err == nil {
		return nil
	}
	err = rpctypes.Error(err)
	for _, known := range refusals {
		if errors.Is(err, known.theirs) {
			return fmt.Errorf("%w (%w)", known.ours, err)
		}
	}
	return err
}
