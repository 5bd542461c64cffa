// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redishandover

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/opcrew/opcrew/internal/agents/shared/redistest"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
	"github.com/opcrew/opcrew/internal/stores/redis/elections"
)

func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }

// shard is a cluster of three primaries, so that elections are possible. The first primary has a replica in sync, which
// the other primaries may not know yet.
type shard struct {
	pods             []*redistest.Pod
	primary, replica *redistest.Server
	options          Options
	log              bytes.Buffer
}

func newShard(t *testing.T) *shard {
	t.Helper()
	t.Parallel() // this test waits for elections and uses little CPU
	s := &shard{}
	for range 3 {
		s.pods = append(s.pods, redistest.New(t))
	}
	s.primary, s.replica = s.pods[0].Home, s.pods[1].Guest
	servers := []*redistest.Server{s.primary, s.pods[1].Home, s.pods[2].Home, s.replica}
	for i, server := range servers {
		server.Start()
		server.Do("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
	}
	for i, server := range servers[:3] {
		server.Do("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(i*5461), strconv.Itoa(min((i+1)*5461-1+i/2, 16383)))
	}
	for _, server := range servers[1:] {
		s.primary.Do("CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(server.Port))
	}
	for _, server := range servers {
		server.Until("cluster_state:ok", "CLUSTER", "INFO")
		server.Until("cluster_known_nodes:4", "CLUSTER", "INFO")
	}
	s.replica.Replicate(s.primary)
	s.options = Options{Port: s.primary.Port, Service: "localhost", Secrets: s.pods[0].Secrets, Timeout: redistest.Patience}
	return s
}

func (s *shard) run(t *testing.T) error {
	t.Helper()
	return Run(t.Context(), s.options, slog.New(slog.NewTextHandler(&s.log, nil)))
}

func TestAPrimaryThatIsStoppedHandsOverToItsReplica(t *testing.T) {
	s := newShard(t)
	if err := s.run(t); err != nil {
		t.Fatal(err)
	}
	if role := s.replica.Do("INFO", "replication"); !strings.Contains(role, "role:master") {
		t.Errorf("expected the replica to be the primary, got:\n%s", role)
	}
	began := time.Now()
	if err := s.run(t); err != nil || strings.Count(s.log.String(), "Handing over") != 1 {
		t.Errorf("expected a server without slots to hand over nothing, got %v:\n%s", err, &s.log)
	}
	if took := time.Since(began); took < lingering {
		t.Errorf("expected a server to redirect clients for %s after a handover, got %s", lingering, took)
	}
}

// nodeTimeout is the cluster-node-timeout of the servers. It is short, so that a replica can soon be elected again.
const nodeTimeout = 2 * time.Second

// Regression, seen with Redis 7.0 and 8.0: a replica that had been the primary a moment before was asked to take over
// again. It became a second primary without an election, was demoted soon, and lost the writes that it had accepted.
func TestARecentPrimaryIsAskedOnlyWhenItCanBeElectedAgain(t *testing.T) {
	s := newShard(t)
	for _, server := range []*redistest.Server{s.primary, s.replica, s.pods[1].Home, s.pods[2].Home} {
		server.Do("CONFIG", "SET", "cluster-node-timeout", strconv.FormatInt(nodeTimeout.Milliseconds(), 10))
	}
	s.lead(s.replica, s.primary)
	began := time.Now()
	s.lead(s.primary, s.replica)
	if err := s.run(t); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); !strings.Contains(s.log.String(), errTooSoon.Error()) || took < elections.Pause(nodeTimeout) {
		t.Errorf("expected the hook to wait until the replica can be elected again, got after %s:\n%s", took, &s.log)
	}
	if role := s.replica.Do("INFO", "replication"); !strings.Contains(role, "role:master") || strings.Count(s.log.String(), "Handing over") != 1 {
		t.Errorf("expected the replica to be the primary after one attempt, got:\n%s\n%s", role, &s.log)
	}
}

// lead makes a replica the primary, and the old primary its replica. A failover can fail on a slow machine, or if
// voters do not know the replica yet. In this case, lead waits until the replica can be elected again, and retries.
func (s *shard) lead(candidate, primary *redistest.Server) {
	id, again, refusal := candidate.Do("CLUSTER", "MYID"), time.Time{}, error(nil)
	candidate.Eventually("the replica leads", func() error {
		role := candidate.Do("INFO", "replication")
		if strings.Contains(role, "role:master") {
			return nil
		}
		if time.Now().After(again) {
			again = time.Now().Add(attemptTime(nodeTimeout))
			_, refusal = candidate.As(redispod.System, redistest.SystemPassword, "CLUSTER", "FAILOVER")
		}
		return fmt.Errorf("refused: %w; it reports %s", refusal, role)
	})
	primary.Until("master_link_status:up", "INFO", "replication")
	for _, voter := range []*redistest.Server{candidate, s.pods[1].Home, s.pods[2].Home} {
		voter.Until("slave "+id, "CLUSTER", "NODES")
	}
}

func TestAPrimaryWithoutAReplicaThatAnswersIsStoppedAtOnce(t *testing.T) {
	s := newShard(t)
	s.replica.Stop(syscall.SIGKILL)
	s.primary.Until("connected_slaves:0", "INFO", "replication")
	began := time.Now()
	if err := s.run(t); err != nil {
		t.Errorf("expected no error without a handover, got %v", err)
	}
	if !strings.Contains(s.log.String(), "No replica can take over") || time.Since(began) > s.options.Timeout {
		t.Errorf("expected the hook to report that at once, got after %s:\n%s", time.Since(began), &s.log)
	}
}

// Any client that reaches the cluster bus can add a node. Such a node must not receive the operator's password.
func TestNoPasswordIsSentToAnAddressOfNoPod(t *testing.T) {
	s := newShard(t)
	s.options.Service = "127.0.0.2" // the Service lists an address that no pod has
	if err := s.run(t); err != nil {
		t.Errorf("expected no error without a handover, got %v", err)
	}
	if log := s.log.String(); strings.Contains(log, "Handing over") || !strings.Contains(log, errUnknown.Error()) {
		t.Errorf("expected no server to be asked, got:\n%s", log)
	}
}

func TestAServerThatDoesNotRunHasNothingToHandOver(t *testing.T) {
	pod := redistest.New(t)
	if err := Run(t.Context(), Options{Port: pod.Home.Port, Service: "localhost", Secrets: pod.Secrets, Timeout: time.Minute}, slog.New(slog.DiscardHandler)); err != nil {
		t.Errorf("expected that the pod can stop, got %v", err)
	}
}

// open starts to move a slot from the first primary to the second, and moves one of its two keys.
func (s *shard) open() (slot string, close func()) {
	to := s.pods[1].Home
	slot = s.primary.Do("CLUSTER", "KEYSLOT", "{mid}")
	for _, key := range []string{"{mid}1", "{mid}2"} {
		s.primary.Do("SET", key, key)
	}
	to.Do("CLUSTER", "SETSLOT", slot, "IMPORTING", s.primary.Do("CLUSTER", "MYID"))
	s.primary.Do("CLUSTER", "SETSLOT", slot, "MIGRATING", to.Do("CLUSTER", "MYID"))
	migrate := func(key string) {
		s.primary.Do("MIGRATE", "127.0.0.1", strconv.Itoa(to.Port), key, "0", "5000", "AUTH2", "opcrew", redistest.SystemPassword)
	}
	migrate("{mid}1")
	return slot, func() {
		migrate("{mid}2")
		for _, end := range []*redistest.Server{to, s.primary} {
			end.Do("CLUSTER", "SETSLOT", slot, "NODE", to.Do("CLUSTER", "MYID"))
		}
	}
}

func TestSlotsThatAreOpenAreWaitedFor(t *testing.T) {
	s := newShard(t)
	slot, end := s.open()
	time.AfterFunc(2*time.Second, end)
	if err := s.run(t); err != nil {
		t.Fatal(err)
	}
	if log := s.log.String(); !strings.Contains(log, "waits for slots") || !strings.Contains(log, "Handing over") {
		t.Errorf("expected the hook to wait and then hand over, got:\n%s", log)
	}
	if n := s.pods[1].Home.Do("CLUSTER", "COUNTKEYSINSLOT", slot); n != "2" {
		t.Errorf("expected the handover after both keys were moved, %s were", n)
	}
}

func TestAJobOfTheServersIsWaitedFor(t *testing.T) {
	s := newShard(t)
	if info := s.primary.Do("INFO", "server"); !strings.Contains(info, "valkey_version:9") {
		t.Skip("the server does not move slots itself")
	}
	to := s.pods[1].Home
	s.primary.Do("SETRANGE", "{mid}1", strconv.Itoa(40<<20), "end")
	slot := s.primary.Do("CLUSTER", "KEYSLOT", "{mid}")
	s.primary.Do("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", to.Do("CLUSTER", "MYID"))
	if err := s.run(t); err != nil {
		t.Fatal(err)
	}
	if log := s.log.String(); !strings.Contains(log, "job is in state") || !strings.Contains(log, "Handing over") {
		t.Errorf("expected the hook to wait and then hand over, got:\n%s", log)
	}
	if n := to.Do("CLUSTER", "COUNTKEYSINSLOT", slot); n != "1" {
		t.Errorf("expected the handover after the job, %s keys were moved", n)
	}
}

func TestSlotsThatTheOperatorDoesNotCloseAreMovedByTheHook(t *testing.T) {
	for name, from := range map[string]bool{"slots that go": true, "slots that come": false} {
		t.Run(name, func(t *testing.T) {
			s := newShard(t)
			s.options.patience = 2 * time.Second
			slot, _ := s.open()
			to := s.pods[1].Home
			if !from {
				s.options.Port = to.Port
			}
			began := time.Now()
			if err := s.run(t); err != nil || time.Since(began) < s.options.patience {
				t.Errorf("expected the hook to continue once the operator has not closed the slot for a while, got %v after %s:\n%s", err, time.Since(began), &s.log)
			}
			if n := to.Do("CLUSTER", "COUNTKEYSINSLOT", slot); n != "2" {
				t.Errorf("expected both keys to be on the target, %s are:\n%s", n, &s.log)
			}
			for _, server := range []*redistest.Server{s.replica, to} {
				server.Until("cluster_state:ok", "CLUSTER", "INFO")
				if nodes := server.Do("CLUSTER", "NODES"); strings.Contains(nodes, "[") {
					t.Errorf("expected no slot to be open, got:\n%s\n%s", nodes, &s.log)
				}
			}
			if leads := strings.Contains(s.replica.Do("INFO", "replication"), "role:master"); leads != from {
				t.Errorf("expected the replica to be the primary: %t:\n%s", from, &s.log)
			}
		})
	}
}

// An operator that ends during a move can leave thousands of slots half moved.
func TestThousandsOfSlotsThatTheOperatorDoesNotCloseAreMovedByTheHook(t *testing.T) {
	const count = 2000
	s := newShard(t)
	s.options.Timeout = 40 * time.Second // the hook moves slots in the second half of this time
	to := s.pods[1].Home
	owner, other := s.primary.Do("CLUSTER", "MYID"), to.Do("CLUSTER", "MYID")
	for slot := range count {
		to.Do("CLUSTER", "SETSLOT", strconv.Itoa(slot), "IMPORTING", owner)
		s.primary.Do("CLUSTER", "SETSLOT", strconv.Itoa(slot), "MIGRATING", other)
	}
	if err := s.run(t); err != nil {
		t.Errorf("expected the server to be handed over, got %v:\n%s", err, &s.log)
	}
	nodes, err := clusternodes.Parse(to.Do("CLUSTER", "NODES"))
	if err != nil {
		t.Fatal(err)
	}
	if self, _ := clusternodes.Myself(nodes); len(self.Importing) > 0 || self.SlotCount() < count {
		t.Errorf("expected all of %d slots to be closed, %d are open:\n%s", count, len(self.Importing), &s.log)
	}
}

func TestAServerHandsOverEvenIfItsOpenSlotsCannotBeMoved(t *testing.T) {
	for name, spoil := range map[string]func(*redistest.Server){
		"the other end does not run": func(to *redistest.Server) { to.Stop(syscall.SIGKILL) },
		"it does not answer":         func(to *redistest.Server) { to.Do("CLIENT", "PAUSE", "60000") },
	} {
		t.Run(name, func(t *testing.T) {
			s := newShard(t)
			s.options.Timeout = 20 * time.Second
			s.open()
			spoil(s.pods[1].Home)
			if err := s.run(t); err != nil {
				t.Errorf("expected the server to be handed over, got %v:\n%s", err, &s.log)
			}
			if role := s.replica.Do("INFO", "replication"); !strings.Contains(role, "role:master") || !strings.Contains(s.log.String(), "could not be completed") {
				t.Errorf("expected the replica to be the primary nevertheless, got:\n%s\n%s", role, &s.log)
			}
		})
	}
}

func TestAVoterThatHangsDelaysNoOther(t *testing.T) {
	s := newShard(t)
	s.pods[1].Home.Do("CLIENT", "PAUSE", "60000")
	if err := s.run(t); err != nil {
		t.Errorf("expected two of three votes to be enough, got %v:\n%s", err, &s.log)
	}
}

func TestTheHookRetriesTheLoginToAServerThatIsFull(t *testing.T) {
	s := newShard(t)
	release := s.fill(t)
	time.AfterFunc(2*time.Second, release)
	if err := s.run(t); err != nil {
		t.Fatal(err)
	}
	if log := s.log.String(); !strings.Contains(log, "refuses the login") || !strings.Contains(log, "Handing over") {
		t.Errorf("expected the hook to retry and hand over, got:\n%s", log)
	}
}

func TestAServerThatStaysFullIsAnError(t *testing.T) {
	s := newShard(t)
	release := s.fill(t)
	defer release()
	s.options.Timeout = 2 * time.Second
	if err := s.run(t); err == nil || strings.Contains(s.log.String(), "No server is running") {
		t.Errorf("expected an error with the reason, got %v:\n%s", err, &s.log)
	}
}

// fill opens as many connections as the primary accepts.
func (s *shard) fill(t *testing.T) (release func()) {
	t.Helper()
	s.primary.Do("CONFIG", "SET", "maxclients", "20")
	var conns []net.Conn
	for range 20 {
		conn, err := net.Dial("tcp", s.primary.Address())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	return func() {
		for _, conn := range conns {
			_ = conn.Close() // an error does not matter: the test does not use the connection
		}
	}
}

func TestTheTimeForAnAttemptDependsOnTheNodeTimeout(t *testing.T) {
	pod := redistest.New(t)
	pod.Home.Start()
	pod.Home.Do("CONFIG", "SET", "cluster-node-timeout", "15000")
	h := handover{log: slog.New(slog.DiscardHandler), address: pod.Home.Address()}
	if err := h.connect(t.Context(), pod.Secrets); err != nil {
		t.Fatal(err)
	}
	if got := attemptTime(h.nodeTimeout(t.Context())); got != 60500*time.Millisecond {
		t.Errorf("expected four node timeouts of 15 s and a half second, got %s", got)
	}
	if got := attemptTime(time.Second); got != 4500*time.Millisecond {
		t.Errorf("expected at least the time of the servers, got %s", got)
	}
}

// A voter with a newer cluster epoch refuses to vote, so the replica could not win an election.
func TestAReplicaThatWouldNotBeElectedIsNotAsked(t *testing.T) {
	s := newShard(t)
	nodes := func(of *redistest.Server) []clusternodes.Node {
		out, err := clusternodes.Parse(of.Do("CLUSTER", "NODES"))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	self, _ := clusternodes.Myself(nodes(s.primary))
	candidate, _ := clusternodes.Myself(nodes(s.replica))
	voter := s.pods[1].Home
	voter.Until(candidate.ID+" 127.0.0.1", "CLUSTER", "NODES")
	voter.Until("slave "+self.ID, "CLUSTER", "NODES")
	h := handover{password: redistest.SystemPassword, pods: []string{"127.0.0.1"}}
	epoch, err := strconv.ParseUint(field(voter.Do("CLUSTER", "INFO"), "cluster_current_epoch"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	for count, want := range map[uint64]bool{epoch: true, epoch + 1: true, epoch - 1: false} {
		if got := h.knowsCandidate(t.Context(), voter.Address(), self, candidate, count); got != want {
			t.Errorf("a candidate at %d, a voter at %d: expected a vote: %t, got %t", count, epoch, want, got)
		}
	}
}

func TestAPortAndATimeAreNeeded(t *testing.T) {
	for _, args := range [][]string{nil, {"--port=0"}, {"--port=65536"}, {"--port=6379"}, {"--port=6379", "--service=a", "--timeout=0s"}, {"--port=6379", "--service=a", "more"}} {
		if o, err := ParseFlags(args, io.Discard); err == nil {
			t.Errorf("%v: expected a refusal, got %+v", args, o)
		}
	}
}
