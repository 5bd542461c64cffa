// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/opcrew/opcrew/hack/localcluster/controlplane"
	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Status prints one line per machine. It returns an error if a machine or a service does not work.
func Status(ctx context.Context, dir string, out io.Writer) error {
	if err := privileged(); err != nil {
		return err
	}
	st, err := state.Load(dir)
	if err != nil {
		return err
	}
	ready, listErr := notReady(ctx, st)
	apiErr := controlplane.Ready(ctx, st)
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "MACHINE\tSTATE\tADDRESS\tINIT\tSERVICES")
	sick := 0
	for _, m := range st.Machines() {
		health := machineState(m, apiErr)
		if n, err := st.Node(m.Name); err == nil && m.Init.Alive() {
			health = nodeState(*n, ready, listErr)
		}
		if health != healthy {
			sick++
		}
		fmt.Fprintf(table, "%s\t%s\t%v\t%d\t%s\n", m.Name, health, m.Address, m.Init.PID, services(st, m))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "kubeconfig: %s\naudit log:  %s\n", st.Kubeconfig(), st.AuditLog())
	if sick > 0 {
		return fmt.Errorf("%d of %d machines do not work; the table shows why", sick, len(st.Machines()))
	}
	return nil
}

const healthy = "Ready"

func machineState(m state.Machine, apiErr error) string {
	switch {
	case !m.Init.Alive():
		return "down"
	case apiErr != nil:
		return "API server not ready"
	}
	return healthy
}

func nodeState(n state.Node, notReady map[string]string, listErr error) string {
	switch reason := notReady[n.Name]; {
	case n.Cut:
		return "cut off"
	case listErr != nil:
		return "unknown"
	case reason != "":
		first, _, _ := strings.Cut(reason, ":")
		return first
	}
	return healthy
}

// services lists a machine's services, with the number of restarts and a mark for services that do not run.
func services(st *state.State, m state.Machine) string {
	if !m.Init.Alive() {
		return "-"
	}
	all, err := machine.Status(st, m.Name)
	if err != nil {
		return err.Error()
	}
	var parts []string
	for _, s := range all {
		part := s.Name
		if s.Restarts > 0 {
			part += fmt.Sprintf(" (%d restarts, last %s)", s.Restarts, s.LastExit)
		}
		if s.PID == 0 {
			part += " (not running)"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}
