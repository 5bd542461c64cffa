// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redishandover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"

	"github.com/opcrew/opcrew/internal/agents/shared/redissecrets"
	"github.com/opcrew/opcrew/internal/agents/shared/resp"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
)

// errUnknown is the error for an address that belongs to no pod of the cluster.
var errUnknown = errors.New("the address belongs to no pod of the cluster")

// dial logs in to a server of the node table. It refuses an address that belongs to no pod of the cluster.
func (h *handover) dial(ctx context.Context, address string) (*resp.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(h.pods, host) {
		return nil, errUnknown
	}
	return h.logIn(ctx, address)
}

// lookUp reads the addresses of the cluster's pods from DNS.
func (h *handover) lookUp(ctx context.Context) {
	var err error
	if h.pods, err = net.DefaultResolver.LookupHost(ctx, h.service); err != nil {
		h.log.Info("The addresses of the pods cannot be looked up", "service", h.service, "error", err.Error())
	}
}

// logIn connects to a server and logs in as the operator's user.
func (h *handover) logIn(ctx context.Context, address string) (*resp.Conn, error) {
	conn, err := resp.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Do(ctx, "AUTH", redispod.System, h.password); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// connect logs in to the server of this pod. If the server refuses the login, connect retries, because the server may
// have too many clients or still use the old password. If nothing listens, there is nothing to hand over.
func (h *handover) connect(ctx context.Context, folder string) error {
	last := ""
	for {
		secrets, err := redissecrets.Read(folder)
		if err != nil {
			return err
		}
		h.password = secrets.Password
		conn, err := h.logIn(ctx, h.address)
		switch {
		case err == nil:
			h.own = conn
			return nil
		case errors.Is(err, syscall.ECONNREFUSED):
			h.log.Info("No server is running, so there are no slots to hand over", "error", err.Error())
			return nil
		case last != err.Error():
			last = err.Error()
			h.log.Info("The server refuses the login", "error", last)
		}
		if sleep(ctx, longPause) != nil {
			return fmt.Errorf("log in to the server: %w", err)
		}
	}
}
