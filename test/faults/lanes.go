// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/opcrew/opcrew/test/testenv"
)

// namespacedLanes is how many cases of a namespaced kind run concurrently on one server.
const namespacedLanes = 6

// lanes returns test environments (connections to an API server), each of which runs one case at a time. For a
// cluster-scoped kind, each environment has its own server. For a namespaced kind, all environments share one server.
func lanes(t *testing.T, s *Subject, scheme *runtime.Scheme) []*testenv.Env {
	opts := testenv.Options{CRDs: s.CRDs, Scheme: scheme, NodeGrace: 2 * time.Minute}
	if len(opts.CRDs) == 0 {
		opts.CRDs = []string{testenv.ProjectCRDs}
	}
	if s.Namespaced {
		env := testenv.Start(t, opts)
		env.Simulate(t)
		if s.Nodes > 0 {
			env.Nodes(t, s.Nodes, testenv.NodeSpec{Prefix: "shared"})
		}
		if s.Server != nil {
			s.Server(t, env)
		}
		all := make([]*testenv.Env, namespacedLanes)
		for i := range all {
			all[i] = env
		}
		return all
	}
	all := make([]*testenv.Env, max(1, *servers))
	var starting sync.WaitGroup
	for i := range all {
		starting.Go(func() { all[i] = testenv.Start(t, opts) })
	}
	starting.Wait()
	for _, env := range all {
		env.Simulate(t)
		if s.Nodes > 0 {
			env.Nodes(t, s.Nodes, testenv.NodeSpec{Prefix: "shared"})
		}
		if s.Server != nil {
			s.Server(t, env)
		}
	}
	return all
}

// job is a subtest that inLanes runs as soon as an environment is free.
type job struct {
	name, class string
	run         func(t *testing.T, env *testenv.Env)
}

// inLanes runs jobs as subtests, one at a time in each environment, until more returns false. It returns the number of
// jobs that ran.
func (a *attack) inLanes(jobs []job, more func() bool) (done int) {
	queue := make(chan job, len(jobs))
	for _, j := range jobs {
		queue <- j
	}
	close(queue)
	var working sync.WaitGroup
	var mu sync.Mutex
	for _, env := range a.lanes {
		working.Go(func() {
			for j := range queue {
				if !more() {
					return
				}
				a.t.Run(j.name, func(t *testing.T) { j.run(t, env) })
				mu.Lock()
				done++
				mu.Unlock()
			}
		})
	}
	working.Wait()
	return done
}
