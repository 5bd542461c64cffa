// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package firewall delivers the firewall rules of NodePools to the agents on nodes. One reconciler writes a ConfigMap for
// each pool, one with the addresses of all nodes, and the DaemonSet of the agents (objects.go). The rules of a pool
// with the addresses of their sources are computed in rules.go, and judge.go judges the reports of the agents. Both
// are pure. internal/agents/firewall is the agent.
package firewall
