// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv"
)

// owner describes a kind whose objects have children.
type owner struct {
	// kind is the value for the flag --kinds. resource is the name of the kind's resource in the audit log.
	kind, resource string
	list           client.ObjectList
	// object returns the object with number i, in a namespace.
	object func(namespace string, i int) client.Object
	// namespaces is the number of namespaces over which the objects are spread. podsEach is the number of pods per
	// object. 0 means 1 for both.
	namespaces, podsEach int
	// children and statuses are the maximum numbers of writes of children and of the status until an object is Ready.
	// shared are the kinds of children that all objects in a namespace share. The maximum in children includes writes
	// of shared children.
	children, statuses int
	childKinds, shared []schema.GroupVersionKind
	// pods is an empty list of the kind of workload that runs the pods, such as a DeploymentList. serves reports
	// whether a workload has a ready pod.
	pods   client.ObjectList
	serves func(client.Object) bool
	// drift returns a child of an object and a patch that changes the child. drifted reports whether a child has this
	// change.
	drift   func(object client.Object) (client.Object, client.Patch)
	drifts  client.ObjectList
	drifted func(client.Object) bool
	// flaps is the label of the pods that become unready and ready again, one per object. If it is empty, the benchmark
	// leaves out this part.
	flaps string
}

// conditioned is an object whose status has conditions.
type conditioned interface{ StatusConditions() *[]metav1.Condition }

func isReady(object client.Object) bool {
	return meta.IsStatusConditionTrue(*object.(conditioned).StatusConditions(), "Ready")
}

// Rows of the table that also have a value for the client that makes only the necessary writes.
const (
	readyTime   = "until all are Ready: time, ratio"
	readyWrites = "until all are Ready: writes an object"
	readySince  = "create to Ready: p50, p99"
)

// bench measures every operator that supports the kind, and also a client that makes only the necessary writes.
func (o owner) bench(t *testing.T) {
	all := driversOf(o.kind)
	// A node can run 110 pods.
	hosts := env.Nodes(t, 3+(len(all)+1)*max(1, o.podsEach)**objects/100, testenv.NodeSpec{Prefix: o.kind})
	title := fmt.Sprintf("%s: %d objects", kindOf(o.object("", 0)), *objects)
	if o.namespaces > 1 {
		title += fmt.Sprintf(" in %d namespaces", o.namespaces)
	}
	tb := newTable("%s", title)
	var least floor
	for _, d := range all {
		run := &ownerRun{owner: o, t: t, tb: tb, hosts: hosts, namespaces: someNamespaces(t, o.namespaces)}
		run.process = d.start(t, o.kind, o.served(run.namespaces)...)
		run.drive()
		if d.gated() {
			least = o.bareClient(t, tb, run.namespaces)
		}
		run.times(least)
	}
	tb.print()
}

// served returns the namespaces that a measured operator watches. If there are many, it watches the whole cluster as in
// a normal deployment, because it would otherwise need a watch per namespace.
func (o owner) served(namespaces []string) []string {
	if o.namespaces > 1 {
		return nil
	}
	return namespaces
}

// someNamespaces creates n namespaces. At the end of the test, it waits until they are completely deleted. Otherwise
// the server would still be busy with the deletion during the next measurement.
func someNamespaces(t *testing.T, n int) []string {
	t.Helper()
	out := make([]string, n)
	t.Cleanup(func() { awaitGone(t, out) }) // runs after the cleanups that delete the namespaces, as it is added first
	for i := range out {
		out[i] = env.Namespace(t)
	}
	return out
}

// ownerRun runs a measured operator with objects in its own namespaces.
type ownerRun struct {
	owner
	*process
	t          *testing.T
	tb         *table
	hosts      []string
	namespaces []string
	create     spell
}

func (r *ownerRun) drive() {
	r.calm(r.t, time.Second)
	empty := r.heap(r.t)
	r.createAll()
	r.resting(r.t, r.tb, "a heartbeat of every node", true, func() { env.Heartbeat(r.t, r.hosts...) })
	r.resting(r.t, r.tb, "other statuses of every pod change", false, func() { podNoise(r.t, r.namespaces) })
	r.driftSome()
	r.flap()
	heap := r.heap(r.t)
	now, peak := r.resident(r.t)
	r.tb.set("heap; resident, at most", r.name, "%.0f MiB; %.0f MiB, %.0f MiB", heap, now, peak)
	r.tb.set("heap an object", r.name, "%.0f KiB", (heap-empty)*1024/float64(*objects))
	r.restarted(r.t, r.tb)
	r.stop(r.t)
}

func (r *ownerRun) createAll() {
	begun := &beginnings{}
	ready := observe(r.t, r.list, isReady, r.namespaces...)
	defer ready.stop()
	r.tb.set(readyTime, r.name, "")
	got := r.during(r.t, func() {
		begin := time.Now()
		r.makeAll(r.t, env.Client, r.namespaces, begun)
		var end time.Time
		end, r.create.ok = ready.done(*objects)
		r.create.took = end.Sub(begin)
		r.calm(r.t, 2*time.Second)
	})
	_, r.create.done = ready.count()
	r.tb.set(readyWrites, r.name, "%.2f", float64(got.writes())/float64(*objects))
	r.tb.set("until all are Ready: reads, reconciles an object; processor time", r.name, "%.1f, %.1f; %.1f s",
		float64(got.reads())/float64(*objects), float64(got.reconciles)/float64(*objects), got.cpu.Seconds())
	r.tb.set(readySince, r.name, "%s", ready.since(begun.at))
	r.t.Logf("%s: %.1f s, %v", r.name, r.create.took.Seconds(), got.calls.Tally())
	if most := (r.children + r.statuses) * *objects; r.gated() && (!r.create.ok || got.writes() > most) {
		r.t.Errorf("expected %d writes at most, %d an object, got %d; %d objects are Ready: %v\n%s", most, r.children+r.statuses, got.writes(), r.create.done, got.calls.Tally(), r.chatty(got, ready))
	}
}

// makeAll creates the objects, and records when it created each of them.
func (o owner) makeAll(t *testing.T, c client.Client, namespaces []string, begun *beginnings) []client.Object {
	t.Helper()
	made := make([]client.Object, *objects)
	concurrently(t, *objects, func(ctx context.Context, i int) error {
		made[i] = o.numbered(namespaces, i)
		begun.now(made[i].GetName())
		return c.Create(ctx, made[i])
	})
	return made
}

func (o owner) numbered(namespaces []string, i int) client.Object {
	return o.object(namespaces[i%len(namespaces)], i)
}

// chatty describes the first object whose status was written too often: the writes, their times and the messages.
func (r *ownerRun) chatty(p phase, ready *observer) string {
	reports := p.calls.Writes().On(r.resource + "/status")
	for i := range *objects {
		object := r.numbered(r.namespaces, i)
		if len(reports.Named(object.GetNamespace(), object.GetName())) > r.statuses {
			calls := p.calls.Where(func(c testenv.Call) bool {
				return c.Namespace == object.GetNamespace() && (strings.HasPrefix(c.Name, object.GetName()) || c.Resource == "resourcequotas")
			})
			return fmt.Sprintf("%v\n%s", calls, strings.Join(ready.words(object.GetName()), "\n"))
		}
	}
	return ""
}

// times fills the row that compares a time with that of the client that makes only the necessary writes.
func (r *ownerRun) times(least floor) {
	if r.create.ok {
		r.tb.time(readyTime, r.name, r.create.took, least.took)
		return
	}
	r.tb.set(readyTime, r.name, "not done after %s: %d of %d objects", *limit, r.create.done, *objects)
}

// driftSome changes a child of some objects as another client would.
func (r *ownerRun) driftSome() {
	k, begun := min(*drifts, *objects), &beginnings{}
	gone := map[string]bool{}
	back := observe(r.t, r.drifts, func(child client.Object) bool {
		drifted := r.drifted(child)
		gone[child.GetName()] = gone[child.GetName()] || drifted
		return gone[child.GetName()] && !drifted
	}, r.namespaces...).saw(r.t, *objects)
	defer back.stop()
	got := r.during(r.t, func() {
		concurrently(r.t, k, func(ctx context.Context, i int) error {
			child, patch := r.drift(r.numbered(r.namespaces, i))
			begun.now(child.GetName())
			return env.Client.Patch(ctx, child, patch)
		})
		back.done(k)
		r.calm(r.t, 2*time.Second)
	})
	r.tb.set("some children drift: writes; p50, p99 until back", r.name, "%d for %d; %s", got.writes(), k, back.since(begun.at))
	if r.gated() && got.writes() != k {
		r.t.Errorf("expected %d children to be put back with one write each, got %v", k, got.calls.Tally())
	}
}

// podNoise changes a pod condition that no controller uses, in every pod.
func podNoise(t *testing.T, namespaces []string) {
	t.Helper()
	for _, ns := range namespaces {
		pods := &corev1.PodList{}
		if err := env.Client.List(t.Context(), pods, client.InNamespace(ns)); err != nil {
			t.Fatal(err)
		}
		noise := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"example.com/Noise","status":"True","message":%q}]}}`, time.Now().Format(time.RFC3339Nano))
		concurrently(t, len(pods.Items), func(ctx context.Context, i int) error {
			return env.Client.Status().Patch(ctx, &pods.Items[i], client.RawPatch(types.StrategicMergePatchType, noise))
		})
	}
}
