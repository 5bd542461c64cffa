// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv"
)

// children and statuses are what one Memcached may cost until it is Ready.
const (
	children = 4
	statuses = 2
)

func TestAMemcachedCostsItsChildrenAndTwoStatuses(t *testing.T) {
	all := drivers()
	hosts := env.Nodes(t, 3+(len(all)+1)**objects/100, testenv.NodeSpec{Prefix: "cache"}) // of 110 pods each
	tb := newTable("Memcached: %d objects", *objects)
	var least floor
	for _, d := range all {
		run := &cacheRun{t: t, tb: tb, hosts: hosts, ns: env.Namespace(t)}
		run.process = d.start(t, "memcached", run.ns)
		run.drive()
		if d.gated() {
			least = bareMemcacheds(t, tb, run.ns)
		}
		run.times(least)
	}
	tb.print()
}

// The rows that the bare client has too.
const (
	cacheTime   = "until all are Ready: time, ratio"
	cacheWrites = "until all are Ready: writes an object"
	cacheReady  = "create to Ready: p50, p99"
)

// cacheRun is one driver at work on Memcacheds in a namespace of its own.
type cacheRun struct {
	*process
	t      *testing.T
	tb     *table
	hosts  []string
	ns     string
	create spell
}

func (r *cacheRun) drive() {
	r.calm(r.t, time.Second)
	empty := r.heap(r.t)
	r.createAll()
	r.resting(r.t, r.tb, "a heartbeat of every node", true, func() { env.Heartbeat(r.t, r.hosts...) })
	r.resting(r.t, r.tb, "other statuses of every pod change", false, func() { podNoise(r.t, r.ns) })
	r.drift()
	heap := r.heap(r.t)
	now, peak := r.resident(r.t)
	r.tb.set("heap; resident, at most", r.name, "%.0f MiB; %.0f MiB, %.0f MiB", heap, now, peak)
	r.tb.set("heap an object", r.name, "%.0f KiB", (heap-empty)*1024/float64(*objects))
	r.restarted(r.t, r.tb)
	r.stop(r.t)
}

func (r *cacheRun) createAll() {
	begun := &beginnings{}
	ready := observe(r.t, &cachev1alpha1.MemcachedList{}, func(m client.Object) bool {
		return meta.IsStatusConditionTrue(m.(*cachev1alpha1.Memcached).Status.Conditions, cachev1alpha1.MemcachedReady)
	}, client.InNamespace(r.ns))
	defer ready.stop()
	r.tb.set(cacheTime, r.name, "")
	got := r.during(r.t, func() {
		begin := time.Now()
		createCaches(r.t, env.Client, r.ns, begun)
		var end time.Time
		end, r.create.ok = ready.done(*objects)
		r.create.took = end.Sub(begin)
		r.calm(r.t, 2*time.Second)
	})
	_, r.create.done = ready.count()
	r.tb.set(cacheWrites, r.name, "%.2f", float64(got.writes())/float64(*objects))
	r.tb.set("until all are Ready: reads, reconciles an object; processor time", r.name, "%.1f, %.1f; %.1f s",
		float64(got.reads())/float64(*objects), float64(got.reconciles)/float64(*objects), got.cpu.Seconds())
	r.tb.set(cacheReady, r.name, "%s", ready.since(begun.at))
	r.t.Logf("%s: %.1f s, %v", r.name, r.create.took.Seconds(), got.calls.Tally())
	if most := (children + statuses) * *objects; r.gated() && (!r.create.ok || got.writes() > most) {
		r.t.Errorf("expected %d writes at most, %d an object, got %d; %d objects are Ready: %v\n%s", most, children+statuses, got.writes(), r.create.done, got.calls.Tally(), r.chatty(got))
	}
}

// chatty lists what the first object with too many statuses cost, to tell when.
func (r *cacheRun) chatty(p phase) testenv.Calls {
	reports := p.calls.Writes().On("memcacheds/status")
	for i := range *objects {
		if name := memcached(r.ns, i).Name; len(reports.Named(r.ns, name)) > statuses {
			return p.calls.Where(func(c testenv.Call) bool { return c.Name == name || c.Name == name+"-servers" })
		}
	}
	return nil
}

// times fills the row that needs the floor.
func (r *cacheRun) times(least floor) {
	if r.create.ok {
		r.tb.time(cacheTime, r.name, r.create.took, least.took)
		return
	}
	r.tb.set(cacheTime, r.name, "not done after %s: %d of %d objects", *limit, r.create.done, *objects)
}

// drift changes the server list of some objects behind the driver's back.
func (r *cacheRun) drift() {
	k, begun := min(*drifts, *objects), &beginnings{}
	gone := map[string]bool{}
	back := observe(r.t, &corev1.ConfigMapList{}, func(list client.Object) bool {
		drifted := list.(*corev1.ConfigMap).Data["servers"] == "drifted"
		gone[list.GetName()] = gone[list.GetName()] || drifted
		return gone[list.GetName()] && !drifted
	}, client.InNamespace(r.ns)).saw(r.t, *objects)
	defer back.stop()
	got := r.during(r.t, func() {
		concurrently(r.t, k, func(ctx context.Context, i int) error {
			list := &corev1.ConfigMap{}
			list.Namespace, list.Name = r.ns, memcached(r.ns, i).Name+"-servers"
			begun.now(list.Name)
			return env.Client.Patch(ctx, list, mergePatch(`{"data":{"servers":"drifted"}}`))
		})
		back.done(k)
		r.calm(r.t, 2*time.Second)
	})
	r.tb.set("some children drift: writes; p50, p99 until back", r.name, "%d for %d; %s", got.writes(), k, back.since(begun.at))
	if r.gated() && got.writes() != k {
		r.t.Errorf("expected %d children to be put back with one write each, got %v", k, got.calls.Tally())
	}
}
