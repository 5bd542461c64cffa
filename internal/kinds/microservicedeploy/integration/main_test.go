// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests MicroServiceDeploy end to end: the real manager with its deployed ServiceAccount and roles,
// a real API server with the real controllers, and simulated nodes. The calls that it makes are read from the server's
// audit log. Pure functions are tested beside their code.
package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var env operator.Suite

func TestMain(m *testing.M) { operator.Main(m, &env, microservicedeploy.Kind()) }
