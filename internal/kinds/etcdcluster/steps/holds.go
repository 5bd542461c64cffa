// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// ErrChanged reports that a step was not taken because the reasons for it no longer hold.
var ErrChanged = errors.New("the members have changed since the step was decided on")

// ErrQuorum reports that a step was not taken because it would leave too few voters for a quorum.
var ErrQuorum = errors.New("too few voters would be left for a quorum")

// Holds returns an error if the members have changed since the step was decided on. If the step takes a voter away, it
// also queries the other voters, and fails if too few of them answer now.
func (s *Step) Holds(ctx context.Context, store etcd.Store, seen etcd.View) error {
	id, now, err := store.Members(ctx)
	same := func(a, b etcd.Member) bool { return a.ID == b.ID && a.Learner == b.Learner }
	switch {
	case err != nil:
		return err
	case id != seen.ClusterID || !slices.EqualFunc(sorted(seen.Members), sorted(now), same):
		return ErrChanged
	case !s.CostsVoter:
		return nil
	}
	left, answer := 0, 0
	for _, m := range now {
		if m.Learner || m.ID == s.About.ID {
			continue
		}
		left++
		at, has := m.Endpoint()
		if !has {
			continue
		}
		if status, err := store.Status(ctx, at); err == nil && status.Leader != 0 {
			answer++
		}
	}
	if answer < left/2+1 {
		return fmt.Errorf("%w: %d of %d other voters respond", ErrQuorum, answer, left)
	}
	return nil
}

func sorted(members []etcd.Member) []etcd.Member {
	out := slices.Clone(members)
	slices.SortFunc(out, func(a, b etcd.Member) int {
		switch {
		case a.ID < b.ID:
			return -1
		case a.ID > b.ID:
			return 1
		}
		return 0
	})
	return out
}
