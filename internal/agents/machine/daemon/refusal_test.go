// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package daemon

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/opcrew/opcrew/internal/agents/machine/hostfs"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// refuses expects that the agent reports a reason and changes nothing.
func (w *world) refuses(t *testing.T, before any, reason string) {
	t.Helper()
	w.run(time.Minute)
	if w.node[machineorder.State] != machineorder.StateUnreconcilable || !strings.Contains(w.node[machineorder.Reason], reason) {
		t.Errorf("expected a refusal with %q, got %v", reason, w.node)
	}
	if diff := cmp.Diff(before, w.Snapshot(t)); diff != "" || strings.HasPrefix(w.node[machineorder.DesiredDrain], machineorder.DrainPrefix) {
		t.Errorf("expected no change and no drain, got %v, %s", w.node, diff)
	}
}

func TestAMalformedOrderIsRefusedAndItsCorrectionCarriedOut(t *testing.T) {
	for text, reason := range map[string]string{
		"{": "cannot be read", `{"config":"rendered-2"}`: "digest must be", `{"config":"none","partitions":1}`: "unknown field",
		`{"config":"none"}`: "the annotation desiredConfig is rendered-2", strings.Repeat("x", machineorder.MaxOrder+1): "at most",
	} {
		w := configured(t)
		w.node[machineorder.DesiredConfig], w.node[machineorder.OrderAnnotation] = "rendered-2", text
		w.refuses(t, w.Snapshot(t), reason)
		if r := w.report(); r.Config != "rendered-2" || r.Phase != machineorder.PhaseRefused {
			t.Errorf("expected the report to be about the order, got %+v", r)
		}
		w.order(two)
		w.run(time.Minute)
		w.expect(machineorder.StateDone, "rendered-2", machineorder.PhaseDone)
	}
}

func TestAHostileSecretIsRefused(t *testing.T) {
	encode := func(c hostconfig.Config) []byte { out, err := hostconfig.Encode(c); must(t, err); return out }
	for name, test := range map[string]struct {
		content []byte
		keeps   bool // the order keeps its digest
		reason  string
	}{
		"another content":  {encode(config("rendered-2", file("/etc/evil", ""))), true, "does not have the content that the order names"},
		"another name":     {encode(one), false, "another name, rendered-1"},
		"no configuration": {[]byte("evil"), false, "not compressed"},
		"missing":          {nil, true, "there is no Secret"},
		"too large":        {make([]byte, hostconfig.MaxEncoded+1), false, "at most"},
	} {
		t.Run(name, func(t *testing.T) {
			w := configured(t)
			before := w.Snapshot(t)
			o := w.order(two, drainNode)
			w.secrets[o.Config] = test.content
			if test.content == nil {
				delete(w.secrets, o.Config)
			}
			if !test.keeps {
				o.Digest = hostconfig.Digest(test.content)
				w.give(o)
			}
			w.refuses(t, before, test.reason)
			w.order(two)
			w.run(10 * time.Minute)
			w.expect(machineorder.StateDone, "rendered-2", machineorder.PhaseDone)
		})
	}
}

func TestANameWithAnotherContentIsRefused(t *testing.T) {
	w := configured(t)
	w.order(config("rendered-1", file("/etc/motd", "another\n")))
	w.refuses(t, w.Snapshot(t), "equal names must have equal contents")
}

func TestWhatTheHostCannotDoIsRefusedBeforeTheDrain(t *testing.T) {
	w := configured(t)
	c := two
	c.Links = []hostconfig.Link{{Entry: hostconfig.Entry{Path: "/etc/dir"}, Target: "x"}}
	w.Mkdir(t, "/etc/dir/sub")
	before := w.Snapshot(t)
	w.order(c, reboot)
	w.refuses(t, before, "/etc/dir")
	reads := w.reads
	w.run(time.Hour)
	if w.reads != reads {
		t.Errorf("expected checks of the host to need no API server, got %d calls", w.reads-reads)
	}
	must(t, w.FS.Remove("/etc/dir/sub"))
	must(t, w.FS.Remove("/etc/dir"))
	w.run(20 * time.Minute)
	w.expect(machineorder.StateDone, "rendered-2", machineorder.PhaseDone)
}

func TestADamagedStateIsReportedAndNothingChanges(t *testing.T) {
	for _, name := range []string{"ledger", "journal", "trial"} {
		w := configured(t)
		before := w.Snapshot(t)
		must(t, w.FS.WriteFile(hostconfig.StateDirectory+"/"+name, []byte("damaged"), hostfs.Entry{Mode: 0o600}))
		w.order(two)
		w.run(time.Hour)
		if w.node[machineorder.State] != machineorder.StateDegraded || w.node[machineorder.Reason] == "" || w.report().Phase != machineorder.PhaseFailed {
			t.Errorf("%s: expected the damage to be reported, got %v", name, w.node)
		}
		if diff := cmp.Diff(before, w.Snapshot(t)); diff != "" {
			t.Errorf("%s: expected no change: %s", name, diff)
		}
	}
}

func TestAFailingAPIServerIsNotFlooded(t *testing.T) {
	w := configured(t)
	o := w.order(two)
	must(t, w.agent.Cluster.Write(context.Background(), nil))
	w.apiDown = true
	w.seen = map[string]string{machineorder.OrderAnnotation: w.node[machineorder.OrderAnnotation], machineorder.DesiredConfig: o.Config}
	turns := 0
	for end := w.uptime + time.Hour; w.uptime < end; turns++ {
		w.uptime += min(w.agent.Turn(context.Background()), time.Hour)
	}
	if turns > 80 {
		t.Errorf("expected at most one attempt per minute, got %d in an hour", turns)
	}
}
