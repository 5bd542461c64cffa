// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redishandover has a server that is about to be stopped give its slots to a replica in
// sync, as the hook of its container that the kubelet runs before it: clients then wait for a
// moment, and not for an election. Also a drain, or a hand that deletes the pod, loses nothing
// by it, and no operator need be there.
package redishandover

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/opcrew/opcrew/internal/helper/clusternodes"
	"github.com/opcrew/opcrew/internal/helper/flags"
	"github.com/opcrew/opcrew/internal/helper/redissecrets"
	"github.com/opcrew/opcrew/internal/helper/resp"
)

const (
	subcommand = "redis-handover"
	maxPort    = 1<<16 - 1
	// pause is between two looks. A handover takes some hundred milliseconds at most: the
	// replica asks for votes at once.
	pause = 50 * time.Millisecond
	// lingering is how long a server that has handed over still answers: clients with an old map
	// are told the new place, and do not run into an address that nobody has any more.
	lingering = time.Second
	// answerTime is how long a replica may take for an answer: one whose pod has gone never does.
	answerTime = time.Second
)

// Options are what the flags say.
type Options struct {
	Port    int // of the server, in the pod itself
	Secrets string
	Timeout time.Duration
}

// ParseFlags reads a command line. It prints to out what --help asks for; an error
// is for the caller to print.
func ParseFlags(args []string, out io.Writer) (Options, error) {
	o := Options{Secrets: "/secrets", Timeout: 10 * time.Second}
	err := flags.Parse(subcommand, args, out, func(set *flag.FlagSet) {
		set.IntVar(&o.Port, "port", 0, "`port` of the server that is about to be stopped")
		set.StringVar(&o.Secrets, "secrets", o.Secrets, "`directory` with system/password")
		set.DurationVar(&o.Timeout, "timeout", o.Timeout, "how long all of it may take")
	})
	switch {
	case err != nil:
		return o, err
	case o.Port < 1 || o.Port > maxPort:
		return o, fmt.Errorf("--port is 1 to %d", maxPort)
	case o.Timeout <= 0:
		return o, errors.New("--timeout is above zero")
	}
	return o, nil
}

// handover is from the server of its own pod.
type handover struct {
	password string
	own      *resp.Conn
	log      *slog.Logger
}

// Run returns when the server leads no slots any more, or when there is nobody to give them to:
// who stops it does so anyway. It fails when the time is over.
func Run(ctx context.Context, o Options, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	secrets, err := redissecrets.Read(o.Secrets)
	if err != nil {
		return err
	}
	h := handover{password: secrets.Password, log: log}
	if h.own, err = h.dial(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port))); err != nil {
		log.Info("There is no server to hand over from", "error", err.Error())
		return nil
	}
	defer h.own.Close()
	return h.run(ctx)
}

func (h *handover) run(ctx context.Context) error {
	asked := ""
	for {
		nodes, err := h.nodes(ctx)
		if err != nil {
			return fmt.Errorf("ask the server itself: %w", err)
		}
		self, _ := clusternodes.Myself(nodes)
		switch {
		case self.SlotCount() == 0 && asked == "":
			return nil
		case self.SlotCount() == 0:
			_ = sleep(ctx, lingering) // less of it does no harm
			return nil
		case asked == "":
			if asked = h.ask(ctx, self, nodes); asked == "" {
				h.log.Info("No replica in sync could be handed over to", "slots", self.SlotCount())
				return nil
			}
		}
		if err := sleep(ctx, pause); err != nil {
			return fmt.Errorf("%s has not taken the lead: %w", asked, err)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// ask has the first replica that is in sync take the lead, and returns its address.
func (h *handover) ask(ctx context.Context, self clusternodes.Node, nodes []clusternodes.Node) string {
	for _, node := range nodes {
		if node.Primary != self.ID || !node.Linked || node.Is("fail") || node.Is("fail?") {
			continue
		}
		err := h.askOne(ctx, node.Address)
		if err == nil {
			h.log.Info("Handing over", "replica", node.Address)
			return node.Address
		}
		h.log.Info("A replica does not take the lead", "replica", node.Address, "reason", err.Error())
	}
	return ""
}

func (h *handover) askOne(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	replica, err := h.dial(ctx, address)
	if err != nil {
		return err
	}
	defer replica.Close()
	info, err := replica.Do(ctx, "INFO", "replication")
	if err != nil {
		return err
	}
	if !strings.Contains(info, "master_link_status:up") {
		return errors.New("it is not in sync")
	}
	_, err = replica.Do(ctx, "CLUSTER", "FAILOVER")
	return err
}

func (h *handover) nodes(ctx context.Context) ([]clusternodes.Node, error) {
	text, err := h.own.Do(ctx, "CLUSTER", "NODES")
	if err != nil {
		return nil, err
	}
	return clusternodes.Parse(text)
}

// dial logs in as the operator does.
func (h *handover) dial(ctx context.Context, address string) (*resp.Conn, error) {
	conn, err := resp.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Do(ctx, "AUTH", redissecrets.System, h.password); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}
