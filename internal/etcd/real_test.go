// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/etcd"
)

// server is an etcd process.
type server struct {
	name, peer, client string
	dir                string
	cmd                *exec.Cmd
}

// etcdBinary is the etcd of KUBEBUILDER_ASSETS, else the one in the project's build.
func etcdBinary(t *testing.T) string {
	t.Helper()
	path := filepath.Join("..", "..", "bin", "kube")
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		path = filepath.Join(assets, "etcd")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is missing: run `make test`, or `make bin/kube` to build only that", path)
	}
	return path
}

func newServer(t *testing.T, name string) *server {
	t.Helper()
	url := func() string {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close() //nolint:errcheck // it has only found a free port
		return "http://" + listener.Addr().String()
	}
	return &server{name: name, peer: url(), client: url(), dir: t.TempDir()}
}

// start runs it until the test ends.
func (s *server) start(t *testing.T, state string, initial ...*server) {
	t.Helper()
	var flag []string
	for _, other := range initial {
		flag = append(flag, other.name+"="+other.peer)
	}
	s.cmd = exec.Command(etcdBinary(t)) //nolint:gosec // the binary under test
	s.cmd.Args = []string{
		"etcd", "--name=" + s.name, "--data-dir=" + s.dir,
		"--listen-peer-urls=" + s.peer, "--initial-advertise-peer-urls=" + s.peer,
		"--listen-client-urls=" + s.client, "--advertise-client-urls=" + s.client,
		"--initial-cluster=" + strings.Join(flag, ","), "--initial-cluster-state=" + state, "--initial-cluster-token=tok",
	}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			tail, _ := os.ReadFile(log.Name()) //nolint:errcheck // there is none, then
			t.Logf("%s ended with:\n%s", s.name, tail[max(0, len(tail)-3000):])
		}
	})
}

func (s *server) stop() {
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()         // as above
}

// within makes a call until it succeeds, or fails with something else than is to pass.
func within(t *testing.T, what string, passing func(error) bool, call func(context.Context) error) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := call(ctx)
		cancel()
		if err == nil {
			return
		}
		if !passing(err) || time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func whatever(error) bool { return true }

func refusedBy(refusals ...error) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(refusals, func(refusal error) bool { return errors.Is(err, refusal) })
	}
}

func dialAll(t *testing.T, servers ...*server) etcd.Store {
	t.Helper()
	store, err := etcd.Dial(targetOf(servers...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func targetOf(servers ...*server) etcd.Target {
	var out etcd.Target
	for _, s := range servers {
		out.Endpoints = append(out.Endpoints, s.client)
	}
	return out
}

// members lists until there are as many, and that many of them have started.
func members(t *testing.T, store etcd.Store, all, started int) (uint64, []etcd.Member) {
	t.Helper()
	var id uint64
	var members []etcd.Member
	within(t, fmt.Sprintf("list %d members, %d started", all, started), whatever, func(ctx context.Context) (err error) {
		if id, members, err = store.Members(ctx); err != nil {
			return err
		}
		n := 0
		for _, m := range members {
			if m.Started() {
				n++
			}
		}
		if len(members) != all || n != started {
			return fmt.Errorf("got %+v", members)
		}
		return nil
	})
	return id, members
}

func TestARealClusterGrowsAndShrinksByOneMember(t *testing.T) {
	a, b := newServer(t, "a"), newServer(t, "b")
	a.start(t, "new", a)
	store := dialAll(t, b, a) // b is not there yet, and holds up nobody
	_, first := members(t, store, 1, 1)
	if want := etcd.BootstrapID([]string{a.peer}, "tok"); first[0].ID != want || first[0].Name != "a" || !slices.Equal(first[0].ClientURLs, []string{a.client}) {
		t.Errorf("expected member %x, got %+v", want, first[0])
	}

	joined := addLearner(t, store, b)
	b.start(t, "existing", a, b)
	id, both := members(t, store, 2, 2)
	within(t, "promote", refusedBy(etcd.ErrLearnerNotReady, etcd.ErrUnhealthy), func(ctx context.Context) error { return store.Promote(ctx, joined.ID) })
	notLearner := func(ctx context.Context) error {
		if err := store.Promote(ctx, joined.ID); !errors.Is(err, etcd.ErrNotLearner) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	}
	within(t, "refuse to promote a voter", refusedBy(etcd.ErrLearnerNotReady), notLearner)
	for _, m := range both {
		var status etcd.MemberStatus
		within(t, "status of "+m.Name, whatever, func(ctx context.Context) (err error) {
			status, err = store.Status(ctx, m.ClientURLs[0])
			return err
		})
		if status.ID != m.ID || status.ClusterID != id || status.Leader != first[0].ID || status.Version == "" || status.DBSize == 0 {
			t.Errorf("expected the status of %s, got %+v", m.Name, status)
		}
	}

	within(t, "move the leader", whatever, func(ctx context.Context) error { return store.MoveLeader(ctx, a.client, joined.ID) })
	if err := store.MoveLeader(t.Context(), a.client, joined.ID); !errors.Is(err, etcd.ErrNotLeader) {
		t.Errorf("expected a follower not to hand over the lead, got %v", err)
	}
	if status, err := store.Status(t.Context(), b.client); err != nil || status.Leader != joined.ID {
		t.Errorf("expected b to lead, got %+v, %v", status, err)
	}
	within(t, "remove", refusedBy(etcd.ErrUnhealthy), func(ctx context.Context) error { return store.Remove(ctx, first[0].ID) })
	_, last := members(t, store, 1, 1)
	if err := store.Remove(t.Context(), first[0].ID); !errors.Is(err, etcd.ErrMemberNotFound) {
		t.Errorf("expected what is removed not to be found, got %v", err)
	}
	if last[0].ID != joined.ID || last[0].Learner {
		t.Errorf("expected b to be left, got %+v", last)
	}
}

func addLearner(t *testing.T, store etcd.Store, s *server) etcd.Member {
	t.Helper()
	joined, err := store.AddLearner(t.Context(), s.peer)
	if err != nil || !joined.Learner || joined.Started() || !slices.Equal(joined.PeerURLs, []string{s.peer}) {
		t.Fatalf("expected a learner, got %+v, %v", joined, err)
	}
	for peer, want := range map[string]error{s.peer: etcd.ErrPeerURLExists, "http://127.0.0.1:1": etcd.ErrTooManyLearners} {
		if _, err := store.AddLearner(t.Context(), peer); !errors.Is(err, want) {
			t.Errorf("expected %v, got %v", want, err)
		}
	}
	if err := store.Promote(t.Context(), joined.ID); !errors.Is(err, etcd.ErrLearnerNotReady) {
		t.Errorf("expected a learner that does not run not to be ready, got %v", err)
	}
	if err := store.Promote(t.Context(), 42); !errors.Is(err, etcd.ErrMemberNotFound) {
		t.Errorf("expected no such member, got %v", err)
	}
	return joined
}

func TestAProberSeesARealClusterLoseItsQuorumAndGetItBack(t *testing.T) {
	servers := []*server{newServer(t, "a"), newServer(t, "b"), newServer(t, "c")}
	p := etcd.NewProber(etcd.Dial, clock.RealClock{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- p.Start(ctx) }()
	p.Watch(shop, targetOf(servers...))
	for _, s := range servers {
		s.start(t, "new", servers...)
	}
	begun := time.Now()
	seen := func(what string, is func(etcd.View) bool) etcd.View {
		t.Helper()
		within(t, what, whatever, func(context.Context) error {
			if v, _ := p.View(shop); !is(v) {
				return fmt.Errorf("got %+v", v)
			}
			return nil
		})
		t.Logf("%s: after %s", what, time.Since(begun).Round(10*time.Millisecond))
		begun = time.Now()
		return view(t, p, shop)
	}
	all := func(v etcd.View) bool { return v.HealthyVoters() == 3 && v.HasQuorum() && len(v.Absent) == 0 }
	v := seen("three healthy members", all)

	servers[1].stop()
	seen("one is gone", func(v etcd.View) bool { return v.HealthyVoters() == 2 && v.HasQuorum() })
	servers[2].stop()
	lost := seen("two are gone", func(v etcd.View) bool { return v.Err != nil && len(v.Members) == 3 })
	a, _ := v.ByName("a")
	if lost.HasQuorum() || lost.Status[a.ID].Err != nil {
		t.Errorf("expected to see that a is up, got %+v", lost)
	}
	servers[1].start(t, "new", servers...)
	servers[2].start(t, "new", servers...)
	seen("three again", all)

	leader, _ := view(t, p, shop).Leader()
	others := slices.DeleteFunc(view(t, p, shop).Voters(), func(m etcd.Member) bool { return m.ID == leader })
	slices.SortFunc(others, func(a, b etcd.Member) int { return cmp.Compare(a.Name, b.Name) })
	lead, _ := view(t, p, shop).Member(leader)
	err := p.Do(t.Context(), shop, func(ctx context.Context, store etcd.Store) error {
		return store.MoveLeader(ctx, lead.ClientURLs[0], others[0].ID)
	})
	if err != nil {
		t.Error(err)
	}
	seen("another leader", func(v etcd.View) bool { id, _ := v.Leader(); return id == others[0].ID && !v.Stale })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
