// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests MachineConfig and MachineConfigPool with the real manager under its ServiceAccount and
// roles. The API server and the Kubernetes controllers are real; nodes are simulated, and
// package machineagents plays the machine agents.
package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/machineconfig"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var env operator.Suite

func TestMain(m *testing.M) { operator.Main(m, &env, machineconfig.Kind()) }
