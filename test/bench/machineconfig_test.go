// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

const (
	// quickWrites is how often the operator writes a Node for a change that needs no drain: the taint of a node that
	// has to change, the order, and the end of the update.
	quickWrites = 3
	// drainWrites is the same for a change with a drain: also the cordon, the eviction of the node's one pod, and the
	// confirmation of the drain.
	drainWrites = 6
	// restTime is how long the operator must make no request after its work.
	restTime = 30 * time.Second
)

func TestAChangeOfMachinesCostsFewWritesANode(t *testing.T) {
	names := makeMachines(t)
	d := opcrewOnly(t)
	r := &machineRun{process: d.startAs(t, "opcrew-machines", "machineconfig"), t: t, names: names,
		tb: newTable("MachineConfig: %d nodes of 50 images, at most 10 %% unavailable", len(names))}
	followMachines(t)
	r.calm(t, time.Second)
	r.first()
	r.change("a change without drain", "/etc/motd", quickWrites)
	makeVictims(t, names)
	r.change("a change with drain and reboot", "/etc/host.conf", drainWrites)
	r.rest()
	heap := r.heap(t)
	now, peak := r.resident(t)
	r.tb.set("heap; resident, at most", r.name, "%.0f MiB; %.0f MiB, %.0f MiB", heap, now, peak)
	r.restarted(t, r.tb)
	r.tb.print()
}

// machineRun is a benchmark run with one MachineConfigPool.
type machineRun struct {
	*process
	t     *testing.T
	tb    *table
	names []string
}

// first creates the pool, and waits until all nodes have their first configuration.
func (r *machineRun) first() {
	r.t.Helper()
	updated := poolHas(r.t, "")
	begin := time.Now()
	createMachinePool(r.t)
	end, ok := updated.done(1)
	if !ok {
		r.t.Fatalf("expected all nodes to have a configuration within %s", *limit)
	}
	r.calm(r.t, 2*time.Second)
	r.tb.set("agents are installed, and nodes get their first configuration: time", r.name, "%.1f s", end.Sub(begin).Seconds())
}

// change declares a file, and waits until all nodes have it. It checks the number of writes, and that never more than a
// tenth of the nodes is unavailable.
func (r *machineRun) change(what, path string, most int) {
	r.t.Helper()
	updated, outages := poolHas(r.t, configurationOfPool(r.t)), watchOutages(r.t, len(r.names))
	begin, took, ok := time.Now(), time.Duration(0), false
	got := r.during(r.t, func() {
		declare(r.t, path)
		var end time.Time
		end, ok = updated.done(1)
		took = end.Sub(begin)
		r.calm(r.t, 3*time.Second)
	})
	worst := outages.stop()
	n := float64(len(r.names))
	writes := len(got.calls.Writes().On("nodes", "pods/eviction"))
	r.tb.set(what+": time, ratio", r.name, "")
	r.tb.time(what+": time, ratio", r.name, took, bareMachines(r.t, r.names, most))
	r.tb.set(what+": writes, reads, reconciles a node; processor time", r.name, "%.2f, %.2f, %.1f; %.1f s",
		float64(writes)/n, float64(got.reads())/n, float64(got.reconciles)/n, got.cpu.Seconds())
	statuses := len(got.calls.Writes().On("machineconfigpools/status"))
	r.tb.set(what+": statuses of the pool, other writes", r.name, "%d, %d", statuses, got.writes()-writes-statuses)
	r.tb.set(what+": most nodes unavailable at once", r.name, "%d", worst)
	r.t.Logf("%s: %.1f s, %v", what, took.Seconds(), got.calls.Tally())
	if !ok || writes > most*len(r.names) {
		r.t.Errorf("%s: expected %d writes for each of %d nodes at most, got %d (complete: %t): %v", what, most, len(r.names), writes, ok, got.calls.Tally())
	}
	if worst > len(r.names)/10 {
		r.t.Errorf("%s: expected at most a tenth of %d nodes to be unavailable at once, got %d", what, len(r.names), worst)
	}
}

// rest checks that the operator makes no request after its work.
func (r *machineRun) rest() {
	r.t.Helper()
	got := r.during(r.t, func() { time.Sleep(restTime) })
	r.tb.set("30 s after the change", r.name, "%s", got)
	if len(got.calls) > 0 {
		r.t.Errorf("expected no requests for %s after the change, got:\n%s", restTime, got.calls)
	}
	r.resting(r.t, r.tb, "a heartbeat of every node", true, func() { env.Heartbeat(r.t, r.names...) })
}

// poolHas records when all nodes of the pool have another configuration than before.
func poolHas(t *testing.T, before string) *observer {
	t.Helper()
	return observe(t, &mcfgv1.MachineConfigPoolList{}, func(object client.Object) bool {
		p := object.(*mcfgv1.MachineConfigPool)
		now := p.Spec.Configuration.Name
		return now != before && p.Status.Configuration.Name == now && int(p.Status.ReadyMachineCount) == *machines
	})
}
