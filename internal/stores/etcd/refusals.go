// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// refusals maps etcd's errors to the errors of this package.
var refusals = []struct{ theirs, ours error }{
	{rpctypes.ErrMemberLearnerNotReady, ErrLearnerNotReady},
	{rpctypes.ErrUnhealthy, ErrUnhealthy},
	{rpctypes.ErrMemberNotEnoughStarted, ErrUnhealthy},
	{rpctypes.ErrMemberNotFound, ErrMemberNotFound},
	{rpctypes.ErrPeerURLExist, ErrPeerURLExists},
	// The member ID is computed from the peer URL and the time, so a member with this ID has this peer URL.
	{rpctypes.ErrMemberExist, ErrPeerURLExists},
	{rpctypes.ErrTooManyLearners, ErrTooManyLearners},
	{rpctypes.ErrMemberNotLearner, ErrNotLearner},
	{rpctypes.ErrNoLeader, ErrNoLeader},
	{rpctypes.ErrNotLeader, ErrNotLeader},
	{rpctypes.ErrCompacted, ErrCompacted},
}

// typed converts etcd's errors into the errors of this package. Other errors, such as a timeout, stay unchanged.
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
