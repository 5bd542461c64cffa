// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package decide

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/daemon/journal"
	"github.com/opcrew/opcrew/internal/agents/machine/trial"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

const name = "rendered-1"

var scanned = 50 * time.Minute

// input is an agent that has just seen an order with a drain, on a host that opcrew has not changed.
func input() *Input {
	order := &machineorder.Order{Config: name, Digest: "sha256-x", Actions: []machineorder.Action{{Type: machineorder.ActionDrain}}}
	return &Input{Annotations: map[string]string{machineorder.DesiredConfig: name}, Order: order, Uptime: time.Hour}
}

func good() *Check { return &Check{Config: name, Digest: "sha256-x", At: time.Hour} }

// accept writes into the annotations what the agent wants to write.
func (in *Input) accept() {
	maps.Copy(in.Annotations, Wanted(in))
}

func TestTheNextStepIsThatOfTheFirstRule(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(in *Input)
		do     Action
		after  time.Duration
	}{
		{"a new order is checked", func(*Input) {}, Preflight, 0},
		{"without the API server and without an order, nothing happens", func(in *Input) { in.Annotations, in.Order = nil, nil }, Wait, 0},
		{"without the API server, drift is still found", func(in *Input) { in.Annotations, in.Order, in.Managed = nil, nil, true }, Scan, 0},
		{"an order that was checked requests a drain", func(in *Input) { in.Check = good() }, Report, 0},
		{"then the agent waits", func(in *Input) { in.Check = good(); in.accept() }, Wait, 0},
		{"and begins after the drain", func(in *Input) {
			in.Check = good()
			in.accept()
			in.Annotations[machineorder.LastAppliedDrain] = "drain-" + name
		}, Begin, 0},
		{"after a long drain, the host is checked again", func(in *Input) {
			in.Check = good()
			in.accept()
			in.Annotations[machineorder.LastAppliedDrain] = "drain-" + name
			in.Uptime += time.Hour
		}, Preflight, 0},
		{"the drain of another order does not count", func(in *Input) {
			in.Check = good()
			in.accept()
			in.Annotations[machineorder.LastAppliedDrain] = "drain-rendered-0"
		}, Wait, 0},
		{"an order without a drain begins at once", func(in *Input) { in.Check, in.Order.Actions = good(), nil }, Begin, 0},
		{"the check of another order does not count", func(in *Input) { in.Check = &Check{Config: "rendered-0"} }, Preflight, 0},
		{"the check of another content does not count", func(in *Input) { in.Check = &Check{Config: name, Digest: "sha256-y"} }, Preflight, 0},
		{"a refusal is reported", func(in *Input) { in.Check = good(); in.Check.Problem = "no" }, Report, 0},
		{"a refusal is checked again later", func(in *Input) { in.Check = good(); in.Check.Problem = "no"; in.accept(); in.Uptime += time.Minute }, Wait, 4 * time.Minute},
		{"a refusal is checked again", func(in *Input) { in.Check = good(); in.Check.Problem = "no"; in.accept(); in.Uptime += 5 * time.Minute }, Preflight, 0},
		{"an order that cannot be read is reported", func(in *Input) { in.Order, in.Problem = nil, "no" }, Report, 0},
		{"and then the agent waits", func(in *Input) { in.Order, in.Problem = nil, "no"; in.accept() }, Wait, 0},
		{"a trial goes on whatever the order is", func(in *Input) { in.Trial = &trial.State{Step: trial.Apply}; in.Order, in.Problem = nil, "no" }, Proceed, 0},
		{"a trial goes on without the API server", func(in *Input) { in.Trial = &trial.State{Step: trial.Check}; in.Annotations, in.Order = nil, nil }, Proceed, 0},
		{"a trial ends with its result", func(in *Input) { in.Trial = &trial.State{Step: trial.Report} }, Conclude, 0},
		{"a result is reported", func(in *Input) { in.settle(journal.Done) }, Report, 0},
		{"a failed write does not block other steps", func(in *Input) { in.settle(journal.Done); in.Unreachable, in.Managed = true, true }, Scan, 0},
		{"a result that is reported needs nothing", func(in *Input) { in.settle(journal.Done); in.accept() }, Wait, 0},
		{"a revert is not repeated", func(in *Input) { in.settle(journal.Reverted); in.accept() }, Wait, 0},
		{"a new policy is kept", func(in *Input) { in.settle(journal.Done); in.accept(); in.Order.Drift = machineorder.RepairDrift }, Note, 0},
		{"a managed host is scanned after the start", func(in *Input) { in.settle(journal.Done); in.Managed = true; in.accept() }, Scan, 0},
		{"and later again", func(in *Input) { in.settle(journal.Done); in.Managed, in.Scanned = true, &scanned; in.accept() }, Scan, 0},
		{"but not before", func(in *Input) {
			in.settle(journal.Done)
			in.Managed, in.Scanned, in.Uptime = true, &scanned, 55*time.Minute
			in.accept()
		}, Wait, 5 * time.Minute},
		{"unless a file has changed", func(in *Input) {
			in.settle(journal.Done)
			in.Managed, in.Scanned, in.Changed, in.Uptime = true, &scanned, true, 55*time.Minute
			in.accept()
		}, Scan, 0},
		{"without its own state, the agent reports", func(in *Input) { in.Broken, in.Check = "no", good() }, Report, 0},
		{"and changes nothing", func(in *Input) { in.Broken, in.Check = "no", good(); in.accept() }, Wait, 5 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := input()
			test.change(in)
			if got := Next(in); got.Do != test.do || got.After != test.after {
				t.Errorf("expected %s after %s, got %+v", test.do, test.after, got)
			}
		})
	}
}

func (in *Input) settle(outcome journal.Outcome) {
	in.Journal = journal.State{Order: *in.Order, Outcome: outcome, Message: "because"}
	if outcome == journal.Reverted {
		in.Journal.RevertedTo = "rendered-0"
	}
}

func TestTheAnnotationsShowWhatIsTrue(t *testing.T) {
	const old = "drain-rendered-0"
	for _, test := range []struct {
		name   string
		change func(in *Input)
		want   map[string]string
	}{
		{"a change without a drain is reported at its end", func(in *Input) { in.Order.Actions, in.Check = nil, good() }, nil},
		{"a trial reports nothing", func(in *Input) { in.Check, in.Trial = good(), &trial.State{Step: trial.Check} }, nil},
		{"a request for a drain", func(in *Input) { in.Check = good() }, map[string]string{
			machineorder.State: "Working", machineorder.Reason: "", machineorder.DesiredDrain: "drain-" + name, machineorder.ReportAnnotation: `{"config":"rendered-1","phase":"Drain"}`,
		}},
		{"done without a drain", func(in *Input) { in.settle(journal.Done) }, map[string]string{
			machineorder.State: "Done", machineorder.Reason: "", machineorder.CurrentConfig: name, machineorder.ReportAnnotation: `{"config":"rendered-1","phase":"Done","message":"because"}`,
		}},
		{"done after a drain, also of an earlier order", func(in *Input) { in.settle(journal.Done); in.Annotations[machineorder.DesiredDrain] = old }, map[string]string{
			machineorder.State: "Done", machineorder.Reason: "", machineorder.CurrentConfig: name, machineorder.DesiredDrain: "uncordon-" + name,
			machineorder.ReportAnnotation: `{"config":"rendered-1","phase":"Done","message":"because"}`,
		}},
		{"reverted: the node stays drained", func(in *Input) { in.settle(journal.Reverted); in.Annotations[machineorder.DesiredDrain] = old }, map[string]string{
			machineorder.State: "Degraded", machineorder.Reason: "because", machineorder.CurrentConfig: "rendered-0",
			machineorder.ReportAnnotation: `{"config":"rendered-1","phase":"Reverted","message":"because","revertedTo":"rendered-0"}`,
		}},
		{"failed: the configuration is unknown", func(in *Input) { in.settle(journal.Failed) }, map[string]string{
			machineorder.State: "Degraded", machineorder.Reason: "because", machineorder.ReportAnnotation: `{"config":"rendered-1","phase":"Failed","message":"because"}`,
		}},
		{"an unreadable order is the one that the operator announced", func(in *Input) { in.Order, in.Problem = nil, "no" }, map[string]string{
			machineorder.State: "Unreconcilable", machineorder.Reason: "no", machineorder.ReportAnnotation: `{"config":"rendered-1","phase":"Refused","message":"no"}`,
		}},
		{"an invalid name is in no report", func(in *Input) {
			in.Order, in.Problem, in.Annotations = nil, "no", map[string]string{machineorder.DesiredConfig: "a/b"}
		}, map[string]string{
			machineorder.State: "Unreconcilable", machineorder.Reason: "no",
		}},
		{"drift", func(in *Input) {
			in.settle(journal.Done)
			in.Managed, in.Scanned, in.Drift = true, &scanned, []string{"a"}
		}, map[string]string{
			machineorder.State: "Done", machineorder.Reason: "", machineorder.CurrentConfig: name,
			machineorder.ReportAnnotation: `{"config":"rendered-1","phase":"Done","message":"because","drift":["a"]}`,
		}},
	} {
		in := input()
		test.change(in)
		if diff := cmp.Diff(test.want, Wanted(in)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}
