// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package firewall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/opcrew/opcrew/internal/agents/firewall/ruleset"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
)

// crash is the panic of an agent that ends at a write.
type crash struct{}

// world is a node with its kernel and its disk, which outlive the agent, and the API server.
type world struct {
	t     *testing.T
	clock *clocktesting.FakeClock
	dir   string
	agent *Agent
	log   bytes.Buffer

	table   string // "" if there is none
	applied int
	refuses error
	// cuts are tables with which the node does not reach the API server.
	cuts   map[string]bool
	outage bool
	// untracked is set if the kernel tracks no connections.
	untracked bool
	others    []string // other firewalls

	pools   map[string]string
	nodes   string
	known   bool
	reports []string
	// dies counts down to the write at which the agent ends; 0 for never.
	dies int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: clocktesting.NewFakeClock(time.Unix(1e9, 0)), dir: t.TempDir(), pools: map[string]string{}, cuts: map[string]bool{}, known: true, others: []string{"ufw"}}
	w.restart()
	return w
}

// restart starts a new agent on the same node.
func (w *world) restart() {
	w.agent = &Agent{Node: "node", Kernel: w, Cluster: w, Store: NewStore(w.dir), Clock: w.clock, Log: slog.New(slog.NewTextHandler(&w.log, nil))}
}

func (w *world) write() {
	if w.dies > 0 {
		if w.dies--; w.dies == 0 {
			panic(crash{})
		}
	}
}

func textOf(t ruleset.Table) string { return fmt.Sprintf("%+v", t) }

// Apply implements Kernel.
func (w *world) Apply(t ruleset.Table) error {
	w.write()
	if w.refuses != nil {
		return w.refuses
	}
	w.table = textOf(t)
	w.applied++
	w.write()
	return nil
}

// Active implements Kernel.
func (w *world) Active(t ruleset.Table) (bool, error) { return w.table == textOf(t), nil }

// Remove implements Kernel.
func (w *world) Remove() error {
	w.write()
	w.table = ""
	return nil
}

// Exists implements Kernel.
func (w *world) Exists() (bool, error) { return w.table != "", nil }

// Others implements Kernel.
func (w *world) Others() ([]string, error) { return w.others, nil }

// Tracks implements Kernel.
func (w *world) Tracks() (bool, error) { return !w.untracked, nil }

// Documents implements Cluster.
func (w *world) Documents() (pools map[string]string, nodes string, known bool) {
	return maps.Clone(w.pools), w.nodes, w.known
}

// Reaches implements Cluster.
func (w *world) Reaches(context.Context) bool { return !w.outage && !w.cuts[w.table] }

// Report implements Cluster.
func (w *world) Report(_ context.Context, text string) error {
	if !w.Reaches(context.Background()) {
		return errors.New("no contact")
	}
	w.write()
	w.reports = append(w.reports, text)
	return nil
}

// rules returns the document of a pool that opens a port on some nodes.
func rules(t *testing.T, pool string, port uint16, members ...string) string {
	t.Helper()
	text, err := nodefirewall.Encode(nodefirewall.Pool{Name: pool, Members: members, Deny: true, Rules: []nodefirewall.Rule{{
		From: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Ports: []nodefirewall.Ports{{Protocol: nodefirewall.TCP, First: port, Last: port}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// tableOf returns the table that the documents of pools lead to.
func (w *world) tableOf(pools ...string) string {
	all := Rules{Pools: map[string]string{}, Nodes: w.nodes}
	for i, text := range pools {
		all.Pools[fmt.Sprint(i)] = text
	}
	table, err := all.table("node")
	if err != nil {
		w.t.Fatal(err)
	}
	return textOf(table)
}

// pass lets time pass, with all turns that are due.
func (w *world) pass(d time.Duration) {
	for end := w.clock.Now().Add(d); !w.clock.Now().After(end); {
		w.clock.Step(max(w.agent.Turn(context.Background()), time.Millisecond))
	}
}

func (w *world) last() nodefirewall.Report {
	if len(w.reports) == 0 || w.reports[len(w.reports)-1] == "" {
		return nodefirewall.Report{}
	}
	r, err := nodefirewall.ParseReport(w.reports[len(w.reports)-1])
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// expect checks the table, and whether a revision is reported as active.
func (w *world) expect(when, table string, active map[string]string) {
	w.t.Helper()
	if w.table != table {
		w.t.Errorf("%s: expected the table\n%q\nfound\n%q\n%s", when, table, w.table, w.log.String())
	}
	if got := w.last().Active; !maps.Equal(got, active) {
		w.t.Errorf("%s: expected the report %v, got %v", when, active, got)
	}
}

func revisions(pool, text string) map[string]string {
	return map[string]string{pool: nodefirewall.Revision(text)}
}
