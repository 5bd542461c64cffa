// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// unitDir is the folder of units that belong to a system's packages. The folder in /etc is for the administrator, and so
// for MachineConfigs.
const unitDir = "/usr/lib/systemd/system"

// runUnits adds services to the operating system of a node as systemd units, and starts them. They also start at each
// later boot.
func runUnits(ctx context.Context, st *state.State, n state.Node, services []machine.Service) error {
	names := []string{}
	for _, s := range services {
		path := filepath.Join(st.HostDir(n.Name), unitDir, s.Name+".service")
		if err := state.WriteFile(path, []byte(unit(s)), 0o644); err != nil {
			return fmt.Errorf("write the unit %s of %s: %w", s.Name, n.Name, err)
		}
		names = append(names, s.Name+".service")
	}
	if _, err := machine.Output(ctx, st, n.Name, "systemctl", "daemon-reload"); err != nil {
		return err
	}
	_, err := machine.Output(ctx, st, n.Name, append([]string{"systemctl", "enable", "--now", "--no-block"}, names...)...)
	return err
}

// unit returns the unit file of a service. As on hosts that kubeadm set up, the file /etc/default/NAME can add arguments.
func unit(s machine.Service) string {
	variable := strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_")) + "_EXTRA_ARGS"
	return fmt.Sprintf(`[Unit]
Description=%[1]s of the local cluster
Wants=containerd.service network-online.target
After=containerd.service network-online.target
StartLimitIntervalSec=0

[Service]
EnvironmentFile=-/etc/default/%[1]s
ExecStart=%[2]s $%[3]s
Restart=always
RestartSec=1

[Install]
WantedBy=multi-user.target
`, s.Name, strings.Join(s.Args, " "), variable)
}
