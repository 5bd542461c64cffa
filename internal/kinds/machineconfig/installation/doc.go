// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package installation installs the machine agent on the hosts of nodes that MachineConfigPools select, and removes it
// from hosts that have no configuration and no pool any more. A privileged pod on the node runs `opcrew-machine install` or
// `opcrew-machine uninstall`. The agent itself is a systemd unit of the host, so the pod is deleted when it has ended.
// Package machineconfig gives orders to the agent.
package installation
