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

// errStrange reports an address that no pod of the cluster has.
var errStrange = errors.New("no pod of the cluster has its address")

// dial logs in to a server that the table of nodes reports, if it is one of the cluster's pods.
func (h *handover) dial(ctx context.Context, address string) (*resp.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(h.pods, host) {
		return nil, errStrange
	}
	return h.logIn(ctx, address)
}

// lookUp has the addresses of the pods be known.
func (h *handover) lookUp(ctx context.Context) {
	var err error
	if h.pods, err = net.DefaultResolver.LookupHost(ctx, h.service); err != nil {
		h.log.Info("The addresses of the pods cannot be looked up", "service", h.service, "error", err.Error())
	}
}

// logIn is as the operator.
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

// reach logs in to the server of the pod itself, however often that refuses it: it may have as many clients as it takes, or
// yet have to hear of a new password. Where nothing listens, there is nothing to hand over from.
func (h *handover) reach(ctx context.Context, folder string) error {
	told := ""
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
			h.log.Info("There is no server to hand over from", "error", err.Error())
			return nil
		case told != err.Error():
			told = err.Error()
			h.log.Info("The server lets nobody in", "error", told)
		}
		if sleep(ctx, longPause) != nil {
			return fmt.Errorf("log in to the server itself: %w", err)
		}
	}
}
