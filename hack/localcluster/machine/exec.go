// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"github.com/opcrew/opcrew/hack/localcluster/proc"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Command returns a command that runs on a machine, outside of its pods. On a node with systemd it runs on the node's
// own operating system.
func Command(ctx context.Context, st *state.State, name string, argv ...string) (*exec.Cmd, error) {
	id := find(st, name)
	if !id.Alive() {
		return nil, fmt.Errorf("%[1]s is down; start it with `localcluster node start %[1]s`", name)
	}
	pid, extra := id.PID, []string{}
	if st.Systemd(name) {
		nested, err := proc.NestedInit(pid)
		if err != nil {
			return nil, fmt.Errorf("the operating system of %s does not run yet: %w", name, err)
		}
		pid, extra = nested, []string{"--cgroup"}
		argv = append([]string{"setpriv", "--bounding-set=-" + strings.Join(SharedKernel(), ",-")}, argv...)
	}
	args := append([]string{"--target", strconv.Itoa(pid), "--mount", "--uts", "--ipc", "--net", "--pid"}, extra...)
	cmd := exec.CommandContext(ctx, "nsenter", append(append(args, "--"), argv...)...)
	return cmd, nil
}

// SharedKernel returns the capabilities that no process on a node with systemd has, because they change what all nodes
// share with this machine: the kernel's modules, the clock, and raw input and output. systemd skips units that need
// them. A command from outside would have them.
func SharedKernel() []string { return []string{"sys_module", "sys_time", "sys_rawio"} }

// Output runs a command on a machine and returns its output without surrounding space. Its error contains what the
// command printed.
func Output(ctx context.Context, st *state.State, name string, argv ...string) (string, error) {
	cmd, err := Command(ctx, st, name, argv...)
	if err != nil {
		return "", err
	}
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return text, fmt.Errorf("%s on %s: %w: %s", strings.Join(argv, " "), name, err, text)
	}
	return text, nil
}
