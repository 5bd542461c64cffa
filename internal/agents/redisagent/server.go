// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisagent

import (
	"context"
	"fmt"

	"github.com/opcrew/opcrew/internal/agents/shared/redissecrets"
	"github.com/opcrew/opcrew/internal/agents/shared/resp"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
)

// server is one of the two servers of the pod. It is queried by one caller at a time, over a persistent connection.
type server struct {
	address string
	secrets string
	conn    *resp.Conn
}

// ask queries the complete state of the server. While a server is loading its data, it reports nothing about its
// cluster.
func (s *server) ask(ctx context.Context) status {
	out, err := s.report(ctx)
	if err != nil {
		s.hangUp()
		return status{err: err}
	}
	return out
}

func (s *server) report(ctx context.Context) (out status, err error) {
	if err := s.connect(ctx); err != nil {
		return out, err
	}
	text, err := s.conn.Do(ctx, "INFO")
	if err != nil {
		return out, err
	}
	out.info = parseInfo(text)
	if out.loading() {
		return out, nil
	}
	if text, err = s.conn.Do(ctx, "CLUSTER", "INFO"); err != nil {
		return out, err
	}
	out.state = parseInfo(text)
	if text, err = s.conn.Do(ctx, "CLUSTER", "NODES"); err != nil {
		return out, err
	}
	out.nodes, err = clusternodes.Parse(text)
	return out, err
}

func (s *server) connect(ctx context.Context) error {
	if s.conn != nil {
		return nil
	}
	secrets, err := redissecrets.Read(s.secrets)
	if err != nil {
		return err
	}
	conn, err := resp.Dial(ctx, s.address)
	if err != nil {
		return err
	}
	if _, err := conn.Do(ctx, "AUTH", redispod.System, secrets.Password); err != nil {
		conn.Close()
		return fmt.Errorf("log in: %w", err)
	}
	s.conn = conn
	return nil
}

func (s *server) hangUp() {
	if s.conn != nil {
		s.conn.Close()
	}
	s.conn = nil
}
