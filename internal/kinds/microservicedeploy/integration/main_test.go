// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests MicroServiceDeploy as a user meets it: the real manager, under the
// ServiceAccount and the roles that are deployed, on a real API server with the real
// controllers and simulated nodes. What calls it makes is read from the server's audit
// log. Pure functions are tested beside their code.
package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var env operator.Suite

func TestMain(m *testing.M) { operator.Main(m, &env, microservicedeploy.Kind()) }
