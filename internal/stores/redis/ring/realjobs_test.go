// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/ring"
)

func TestAnEndOfAJobIsKilledInItsMiddleAndNothingIsLost(t *testing.T) {
	for name, victim := range map[string]func(from, to *server) (killed, left *server){
		"the one that has the slots": func(from, to *server) (*server, *server) { return from, to },
		"the one that gets them":     func(from, to *server) (*server, *server) { return to, from },
	} {
		t.Run(name, func(t *testing.T) {
			o := operate(t, 3)
			o.settled(soon)
			o.needsJobs()
			keys := o.fill()
			w := o.write()
			time.Sleep(2 * time.Second)
			w.stop()
			o.scale(4)
			killed, left := o.killInAJob(victim)
			o.restart(o.host(killed.pod), killed)
			o.settled(later)
			if jobs := o.jobs(left); !strings.Contains(jobs, "failed") {
				t.Errorf("expected the other end to report that the job has failed, it reports %s", jobs)
			}
			o.keeps(w)
			o.holds(keys)
		})
	}
}

// needsJobs skips the test if the servers have no slot migration jobs. The variable OPCREW_REDIS_SERVER selects the
// server.
func (o *operator) needsJobs() {
	o.t.Helper()
	o.await(soon, "the servers to report their version", func(view redis.View, _ ring.Ring, _ ring.Why) bool {
		for _, status := range view.Nodes {
			if !status.Version.HasJobs() {
				o.t.Skipf("the server is %s, and has no jobs", status.Version.Number)
			}
		}
		return len(view.Nodes) > 0
	})
}

// fill writes so much data that a slot migration job takes longer than reading the state of the job.
func (o *operator) fill() (keys []string) {
	o.t.Helper()
	client := o.client()
	defer func() { _ = client.Close() }() // no call is in progress, so an error does not matter
	value := strings.Repeat("x", 100_000)
	for i := range 2000 {
		key := fmt.Sprint("filled:", i)
		if err := client.Set(o.t.Context(), key, value, 0).Err(); err != nil {
			o.t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return keys
}

// holds expects that all keys that fill wrote still exist.
func (o *operator) holds(keys []string) {
	o.t.Helper()
	client := o.client()
	defer func() { _ = client.Close() }() // no call is in progress, so an error does not matter
	for _, key := range keys {
		if n, err := client.StrLen(o.t.Context(), key).Result(); err != nil || n != 100_000 {
			o.t.Errorf("expected %s to be kept, it has %d bytes (%v)", key, n, err)
		}
	}
}

// killInAJob kills the source or the destination of a slot migration job while the other server reports that the job is
// running.
func (o *operator) killInAJob(victim func(from, to *server) (killed, left *server)) (killed, left *server) {
	o.t.Helper()
	to := o.pods[3].home
	for until := time.Now().Add(later); time.Now().Before(until); time.Sleep(time.Millisecond) {
		for _, p := range o.pods[:3] {
			if !goesOn(o.jobs(p.home)) {
				continue
			}
			killed, left := victim(p.home, to)
			o.signal(killed, syscall.SIGSTOP)
			if jobs := o.jobs(left); goesOn(jobs) {
				o.t.Logf("killed in the middle of %s", jobs)
				o.kill(killed)
				return killed, left
			}
			o.signal(killed, syscall.SIGCONT)
		}
	}
	o.t.Fatalf("expected to meet a job that goes on within %s", later)
	return nil, nil
}

func (o *operator) signal(s *server, signal syscall.Signal) {
	o.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		o.t.Fatal(err)
	}
}

// jobs returns the states of the jobs that a server remembers.
func (o *operator) jobs(s *server) string {
	o.t.Helper()
	client := goredis.NewClient(&goredis.Options{Addr: s.address, Username: "opcrew", Password: secret, Protocol: 2})
	defer func() { _ = client.Close() }() // no call is in progress, so an error does not matter
	lines, err := client.Do(o.t.Context(), "CLUSTER", "GETSLOTMIGRATIONS").Slice()
	if err != nil {
		o.t.Fatal(err)
	}
	var states []string
	for _, line := range lines {
		words, _ := line.([]any)
		for i := 0; i+1 < len(words); i += 2 {
			if words[i] == "state" {
				states = append(states, fmt.Sprint(words[i+1]))
			}
		}
	}
	return strings.Join(states, ",")
}

func goesOn(states string) bool {
	for state := range strings.SplitSeq(states, ",") {
		if state != "" && !(redis.Job{State: state}).Ended() {
			return true
		}
	}
	return false
}
