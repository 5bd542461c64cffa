// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// store implements redis.Store for the simulated servers.
type store struct {
	*World
	by redis.Credentials
}

// Dial implements redis.Dialer.
func (w *World) Dial(target redis.Target) (redis.Store, error) {
	return &store{w, target.Credentials}, nil
}

func (s *store) Credentials() redis.Credentials { return s.by }

func (s *store) Close() error { return nil }

// Status implements redis.Store. Before it answers, the servers of the cluster exchange news.
func (s *store) Status(_ context.Context, address string) (redis.NodeStatus, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.login(address, s.by.User, s.by.Password)
	if err != nil {
		return redis.NodeStatus{Err: err}, err
	}
	n.looks++
	s.gossip(n.Cluster)
	return n.status(), nil
}

// Do implements redis.Store.
func (s *store) Do(ctx context.Context, address string, commands ...redis.Command) ([]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.login(address, s.by.User, s.by.Password)
	if err != nil {
		return nil, err
	}
	var out []any
	for _, command := range commands {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		answer, err := console{n}.do(command)
		if err != nil {
			return out, fmt.Errorf("%s: %w", address, err)
		}
		out = append(out, answer)
	}
	return out, nil
}

// Login returns an error if a server refuses the user and password.
func (w *World) Login(address, user, password string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.login(address, user, password)
	return err
}

func (w *World) login(address, user, password string) (*node, error) {
	n := w.running[address]
	if n == nil {
		return nil, fmt.Errorf("dial tcp %s: connect: connection refused", address)
	}
	sum := sha256.Sum256([]byte(password))
	if !slices.Contains(n.users[user], hex.EncodeToString(sum[:])) {
		return nil, refuse("WRONGPASS invalid username-password pair or user is disabled.")
	}
	return n, nil
}
