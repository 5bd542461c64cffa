// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build fields

package fields

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/test/fields/table"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/etcdpods"
	"github.com/opcrew/opcrew/test/testenv/machineagents"
	"github.com/opcrew/opcrew/test/testenv/operator"
	"github.com/opcrew/opcrew/test/testenv/redispods"
)

// atOnce is how many objects are edited concurrently.
const atOnce = 16

func TestEveryEditDoesWhatItsRowSays(t *testing.T) {
	trials := plan(t)
	serve(t)
	prepare(t)
	carryOut(t, trials)
	for _, trial := range trials {
		t.Run(trial.String(), func(t *testing.T) {
			if err := trial.done(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	t.Log(tally(trials))
}

// plan returns the edits of all rows. It alternates between kinds, so that all operators are equally busy.
func plan(t *testing.T) []*trial {
	t.Helper()
	files, err := table.Read(env.Root)
	if err != nil {
		t.Fatal(err)
	}
	var trials []*trial
	turn := map[*trial]int{}
	for _, f := range files {
		first := len(trials)
		for _, row := range f.Rows {
			for _, path := range row.Fields() {
				one := &trial{kind: f, row: row, path: path, name: fmt.Sprintf("f%d", len(trials))}
				one.namespace = one.name
				if row.Shown == "" && strings.Contains(one.String(), *only) {
					turn[one] = len(trials) - first
					trials = append(trials, one)
				}
			}
		}
	}
	slices.SortStableFunc(trials, func(a, b *trial) int { return turn[a] - turn[b] })
	return trials
}

// serve starts the operators, and simulates nodes, etcd and Redis.
func serve(t *testing.T) {
	t.Helper()
	env.Nodes(t, 4, testenv.NodeSpec{Prefix: "fields", Labels: map[string]string{"disk": "fast"}, Mutate: func(n *corev1.Node) {
		n.Status.Capacity = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("9k"), corev1.ResourceMemory: resource.MustParse("9Ti"), corev1.ResourcePods: resource.MustParse("5k"),
		}
		n.Status.Allocatable = n.Status.Capacity
	}})
	seen = watch(t)
	etcdpods.Follow(t, env.Config, env.Client, etcds)
	redispods.Follow(t, env.Config, env.Client, redises)
	machineagents.Follow(t, env.Client).Hinder(nil, failing)
	for _, kinds := range layers() {
		operator.New(env, kinds...).Operator(t)
	}
}

// failing lets machine agents fail to apply a configuration with the file /etc/fails.
func failing(_ string, config hostconfig.Config) string {
	if slices.ContainsFunc(config.Files, func(f hostconfig.File) bool { return f.Path == "/etc/fails" }) {
		return "the disk is full"
	}
	return ""
}

// watch returns a reader of cached objects. Watches keep the cache up to date until the test ends.
func watch(t *testing.T) client.Reader {
	t.Helper()
	copied, err := cache.New(env.Config, cache.Options{
		Scheme: env.Client.Scheme(), Mapper: env.Client.RESTMapper(), DefaultTransform: cache.TransformStripManagedFields(),
		DefaultUnsafeDisableDeepCopy: new(true), // no test changes the cached objects
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = copied.Start(t.Context()) }() // ignore the error: without the cache, every test case fails
	return copied
}

// carryOut runs the edits of all trials, at most atOnce of them at the same time.
func carryOut(t *testing.T, trials []*trial) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, trial := range trials {
		group.Go(func() error {
			if trial.err = trial.home(t.Context()); trial.err == nil {
				trial.err = trial.run(t.Context())
			}
			outcome := "its effect was seen"
			if trial.err != nil {
				outcome = trial.err.Error()
			}
			t.Logf("%s: %s", trial, outcome)
			return nil // a subtest for this trial reports trial.err
		})
	}
	_ = group.Wait() // always nil: each trial keeps its own error
}

// done returns an error unless the effect of the edit was observed. If the edit must not replace pods, done checks the
// pods once more, because a wrong rollout may start late.
func (t *trial) done(ctx context.Context) error {
	if t.err != nil || t.row.Gone || t.row.Effect == table.Refused || t.row.Effect == table.Rollout {
		return t.err
	}
	later, err := t.snap(ctx)
	if err != nil {
		return err
	}
	return t.before.keptIn(later)
}

// home creates the namespace in which the trial creates its object.
func (t *trial) home(ctx context.Context) error {
	ns := &corev1.Namespace{}
	ns.Name = t.namespace
	return env.Client.Create(ctx, ns)
}

// tally returns the number of edits per kind and effect, formatted for the log.
func tally(trials []*trial) string {
	count := map[string]int{}
	for _, t := range trials {
		count[t.kind.Kind+" "+string(t.row.Effect)]++
	}
	var out strings.Builder
	for _, line := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(&out, "\n%s: %d", line, count[line])
	}
	return out.String()
}
