// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/test/testenv"
)

// Process is a process of the operator. A test can stop it and start it again.
type Process struct {
	// Registry contains the metrics of the process.
	Registry *prometheus.Registry

	t      *testing.T
	suite  *Suite
	checks bool
	ca     string // file with the CA of the API server; empty for that of the suite
	mark   testenv.Mark
	cancel context.CancelFunc // nil while the process is stopped
	ended  chan error
}

// Operator runs the operator until the test ends. Call it before you create objects that the test deletes at its end.
// Cleanups run in reverse order, so the operator then still runs during the deletion.
func (s *Suite) Operator(t *testing.T) *Process {
	t.Helper()
	return s.start(t, false)
}

// CheckingOperator is like Operator, but the operator also checks the rights of the users who requested objects. Most
// tests run the operator without these checks.
func (s *Suite) CheckingOperator(t *testing.T) *Process {
	t.Helper()
	return s.start(t, true)
}

func (s *Suite) start(t *testing.T, checks bool) *Process {
	t.Helper()
	p := &Process{t: t, suite: s, checks: checks, mark: s.Audit.Mark(t)}
	t.Cleanup(p.Stop)
	p.Start()
	return p
}

// StartChecking starts a new process that checks the rights of requesters. This simulates an upgrade from an opcrew
// version without these checks.
func (p *Process) StartChecking() {
	p.t.Helper()
	p.checks = true
	p.Start()
}

// StartTrusting starts a new process that reads the CA of the API server from a file, as a deployed operator does.
func (p *Process) StartTrusting(file string) {
	p.t.Helper()
	p.ca = file
	p.Start()
}

// ExpectNoWork calls event, which must make the operator reconcile, and then restarts the operator. The test fails if
// the event or the restart makes the operator write anything or review a right (SubjectAccessReview).
func (p *Process) ExpectNoWork(event func()) {
	p.t.Helper()
	p.suite.Settled(p.t, p.suite.Audit.Mark(p.t))
	mark := p.suite.Audit.Mark(p.t)
	event()
	p.expectNone(mark, "another reconcile")
	p.Stop()
	mark = p.suite.Audit.Mark(p.t)
	p.Start()
	p.expectNone(mark, "a restart")
}

func (p *Process) expectNone(since testenv.Mark, after string) {
	p.t.Helper()
	p.suite.Settled(p.t, since)
	done := p.suite.Audit.Since(p.t, since).By(p.suite.User).Where(func(c testenv.Call) bool {
		return c.IsWrite() && c.IsCounted() || c.Resource == "subjectaccessreviews"
	})
	if len(done) > 0 {
		p.t.Errorf("expected no write and no review of rights after %s, got:\n%s", after, done)
	}
}

// Start starts a new process, which has no memory of earlier ones, and waits until its caches are synced.
func (p *Process) Start() {
	p.t.Helper()
	p.Registry, p.ended = prometheus.NewRegistry(), make(chan error, 1)
	config := p.suite.Deployed(p.t)
	if p.ca != "" {
		config.CAData, config.CAFile = nil, p.ca
	}
	mgr, err := kit.NewManager(config, kit.Options{
		Kinds:           p.suite.kinds,
		Namespaces:      p.suite.namespaces,
		MetricsAddress:  "0",
		ProbeAddress:    "0",
		Registry:        p.Registry,
		AgentImage:      "opcrew/opcrew-agent:test",
		BackupImage:     "opcrew/opcrew-backup:test",
		RedisImage:      "docker.io/valkey/valkey:9.1",
		RequesterChecks: p.checks,
		Clock:           clock.RealClock{},
		ShutdownTimeout: 10 * time.Second,
	})
	if err != nil {
		p.t.Fatalf("creating the manager: %v", err)
	}
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(p.t.Context()))
	go func() { p.ended <- mgr.Start(ctx) }()
	synced, cancel := context.WithTimeout(ctx, Long)
	defer cancel()
	if !mgr.GetCache().WaitForCacheSync(synced) {
		p.t.Fatal("the caches of the manager were not filled; check whether its rights are complete")
	}
}

// Stop ends the process between two of its writes. It fails the test if the API server has refused a request of the
// process because of a missing right.
func (p *Process) Stop() {
	if p.cancel == nil {
		return
	}
	p.cancel()
	p.cancel = nil
	select {
	case err := <-p.ended:
		if err != nil {
			p.t.Errorf("the manager ended with %v", err)
		}
	case <-time.After(Long):
		p.t.Error("the manager did not end in time")
	}
	forbidden := p.suite.Audit.Since(p.t, p.mark).By(p.suite.User).Where(func(c testenv.Call) bool { return c.Forbidden })
	if len(forbidden) > 0 {
		p.t.Errorf("expected the deployed roles to allow all that the operator does; refused:\n%s", forbidden)
	}
}
