// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// AddLearner adds a member without a vote.
func (s *store) AddLearner(ctx context.Context, peerURL string) (etcd.Member, error) {
	return s.add(ctx, "AddLearner", peerURL, true)
}

// AddVoter adds a member with a vote.
func (s *store) AddVoter(ctx context.Context, peerURL string) (etcd.Member, error) {
	return s.add(ctx, "AddVoter", peerURL, false)
}

func (s *store) add(ctx context.Context, call, peerURL string, learner bool) (added etcd.Member, err error) {
	err = s.agreed(ctx, call, func(c *cluster) error {
		if err := mayAdd(s.world, c, peerURL, learner); err != nil {
			return err
		}
		s.world.additions++
		// etcd uses the current time for the ID instead of this count.
		id := etcd.BootstrapID([]string{peerURL}, fmt.Sprint(s.world.additions))
		added = etcd.Member{ID: id, PeerURLs: []string{peerURL}, Learner: learner}
		c.members = append(c.members, &member{Member: added})
		c.changed("%s %s", call, peerURL)
		return nil
	})
	if err != nil {
		return etcd.Member{}, err
	}
	return added, nil
}

// Promote gives a learner a vote.
func (s *store) Promote(ctx context.Context, id uint64) error {
	return s.agreed(ctx, "Promote", func(c *cluster) error {
		m, err := mayPromote(s.world, c, id)
		if err == nil {
			m.Learner = false
			c.changed("Promote %s", m.PeerURLs[0])
		}
		return err
	})
}

// Remove removes a member, and its process ends.
func (s *store) Remove(ctx context.Context, id uint64) error {
	return s.agreed(ctx, "Remove", func(c *cluster) error {
		m, err := mayRemove(s.world, c, id)
		if err != nil {
			return err
		}
		c.members = slices.DeleteFunc(c.members, func(other *member) bool { return other == m })
		for _, p := range s.world.processes {
			if p.cluster == c && p.id == id {
				p.cluster, p.serving = nil, false
			}
		}
		c.changed("Remove %s", m.PeerURLs[0])
		return nil
	})
}
