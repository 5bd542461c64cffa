// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package redishandover has a server that is about to be stopped give its slots to a replica in
// sync, as the hook of its container that the kubelet runs before it: clients then wait for a
// moment, and not for an election. Also a drain, or a hand that deletes the pod, loses nothing
// by it, and no operator need be there.
//
// It logs in to servers at addresses of the cluster's own pods only, as its Service has them. The table of nodes is no
// word for who they are: anyone who reaches the bus of Redis, which has no password, can stand in it, and would be given
// the operator's.
package redishandover

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/opcrew/opcrew/internal/agents/shared/flags"
	"github.com/opcrew/opcrew/internal/agents/shared/resp"
	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
)

const (
	subcommand = "redis-handover"
	maxPort    = 1<<16 - 1
	// pause is between two looks. A handover takes some hundred milliseconds at most: the
	// replica asks for votes at once.
	pause = 50 * time.Millisecond
	// longPause is one while a name has to change, or an election to be long enough ago.
	longPause = 500 * time.Millisecond
	// lingering is how long a server that leads nothing still answers, as the operator may have had it hand over a moment
	// ago: clients with an old map are told the new place, and do not run into an address that no one has any more. They
	// ask for a new map when they are, and may ask servers for it first that are gone, a second each: one that got the old
	// map meanwhile has to be told again, or some keep it until it is 10 seconds old (go-redis, clusterStateHolder).
	lingering = 3 * time.Second
	// answerTime is how long a replica may take for its answers: one whose pod has gone has none.
	answerTime = time.Second
	// strangeTime is how long a replica may be at an address of no pod. Names lag behind pods that are recreated:
	// those of Kubernetes may be kept for 5 seconds (CoreDNS, plugin kubernetes, ttl).
	strangeTime = 7 * time.Second
)

// Options are what the flags say.
type Options struct {
	Port    int    // of the server, in the pod itself
	Service string // is the name that has the addresses of all pods of the cluster
	Secrets string
	Timeout time.Duration
	// patience is how long the operator is waited for while slots are open; half of Timeout if it is 0.
	patience time.Duration
}

// ParseFlags reads a command line. It prints to out what --help asks for; an error
// is for the caller to print.
func ParseFlags(args []string, out io.Writer) (Options, error) {
	o := Options{Secrets: "/secrets", Timeout: 40 * time.Second}
	err := flags.Parse(subcommand, args, out, func(set *flag.FlagSet) {
		set.IntVar(&o.Port, "port", 0, "`port` of the server that is about to be stopped")
		set.StringVar(&o.Service, "service", "", "`name` of the headless Service, which has the addresses of the cluster's pods")
		set.StringVar(&o.Secrets, "secrets", o.Secrets, "`directory` with system/password")
		set.DurationVar(&o.Timeout, "timeout", o.Timeout, "how long all of it may take")
	})
	switch {
	case err != nil:
		return o, err
	case o.Port < 1 || o.Port > maxPort:
		return o, fmt.Errorf("--port is 1 to %d", maxPort)
	case o.Service == "":
		return o, errors.New("--service is missing")
	case o.Timeout <= 0:
		return o, errors.New("--timeout is above zero")
	}
	return o, nil
}

// handover is from the server of its own pod.
type handover struct {
	password string
	service  string
	address  string   // of the server
	pods     []string // addresses
	own      *resp.Conn
	attempt  time.Duration // for how long one is waited for
	epoch    uint64        // of the server, in the count of elections
	log      *slog.Logger
	told     string // the last reason why a replica does not take the lead
	strange  bool   // that was: it is at an address of no pod
	tired    bool   // that was, of one of them: it cannot be elected as yet

	patient  time.Time     // until when slots on their way are waited for
	closing  time.Duration // for which what is left of them may be moved: the rest is for the handover
	moving   string        // what was informed of them
	finished bool          // that what is left of them has been moved, as far as it can be
}

// Run returns when the server leads no slots any more, or when there is no one to give them to:
// who stops it does so anyway. It fails when the time is over, also where a server is there that lets no one in.
//
// While the server has slots open the operator is waited for, which ends their move when it sees the pod being deleted:
// a replica of Redis before 8.0 knows nothing of open slots, answers for keys that have gone already as if they had never
// been, and has clients begin them again. That is so whether it takes over by agreement or is elected. When half of the
// time is over, as there may be no operator, the rest of these slots is moved from here. If that fails too, it is handed
// over all the same: clients at least do not wait for an election. The keys that have gone are kept at the other end, and
// the operator has them be found again once it is back; of those that clients have begun again since, what they have written
// since is kept. A job of Valkey's own moves all or nothing, and loses nothing by a handover: it is waited for as it would
// have to begin again.
func Run(ctx context.Context, o Options, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	patience := cmp.Or(o.patience, o.Timeout/2)
	h := handover{service: o.Service, log: log, address: net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port))}
	h.patient, h.closing = time.Now().Add(patience), (o.Timeout-patience)/2
	if err := h.reach(ctx, o.Secrets); err != nil || h.own == nil {
		return err
	}
	defer h.own.Close()
	h.attempt = attemptTime(h.nodeTimeout(ctx))
	return h.run(ctx)
}

// run asks once more when the servers have given an attempt up: until then they refuse another.
func (h *handover) run(ctx context.Context) error {
	var first, again time.Time
	for {
		if err := h.waitForMoves(ctx); err != nil {
			return err
		}
		nodes, err := h.look(ctx)
		if err != nil {
			return fmt.Errorf("ask the server itself: %w", err)
		}
		self, _ := clusternodes.Myself(nodes)
		if self.SlotCount() == 0 {
			linger(ctx, nodes)
			return nil
		}
		heirs := heirsOf(self, nodes)
		if len(heirs) == 0 || h.strange && time.Since(first) > strangeTime {
			h.log.Info("No replica is there to be handed over to", "slots", self.SlotCount())
			return nil
		}
		if first.IsZero() {
			first = time.Now()
		}
		if time.Now().After(again) && h.ask(ctx, self, nodes, heirs) {
			again = time.Now().Add(h.attempt)
		}
		if err := sleep(ctx, h.pause()); err != nil {
			return fmt.Errorf("no replica of %d slots has taken the lead: %w", self.SlotCount(), err)
		}
	}
}

// linger has a server that clients may have just been sent away from answer for a while.
func linger(ctx context.Context, nodes []clusternodes.Node) {
	if len(nodes) > 1 {
		_ = sleep(ctx, lingering) // less of it does no harm
	}
}

// look asks the server whom it knows, and how far it is in the count of elections.
func (h *handover) look(ctx context.Context) (nodes []clusternodes.Node, err error) {
	if h.epoch, err = currentEpoch(ctx, h.own); err != nil {
		return nil, err
	}
	return h.nodes(ctx, h.own)
}

func (h *handover) pause() time.Duration {
	if h.strange || h.tired {
		return longPause
	}
	return pause
}

// heirsOf are the replicas that a primary is connected to.
func heirsOf(self clusternodes.Node, nodes []clusternodes.Node) []clusternodes.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n clusternodes.Node) bool {
		return n.Primary != self.ID || !n.Linked || n.Is("fail") || n.Is("fail?")
	})
}

func (h *handover) nodes(ctx context.Context, of *resp.Conn) ([]clusternodes.Node, error) {
	text, err := of.Do(ctx, "CLUSTER", "NODES")
	if err != nil {
		return nil, err
	}
	return clusternodes.Parse(text)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
