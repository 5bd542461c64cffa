// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests Activity as a user meets it: the real manager, under the
// ServiceAccount and the roles that are deployed, on a real API server with the admission
// policies that are deployed, the real controllers and simulated nodes, on which the commands
// true and false end by themselves and all others when they are ended. What calls it makes is
// read from the server's audit log. Pure functions are tested beside their code.
package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/activity"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var env operator.Suite

func TestMain(m *testing.M) { operator.Main(m, &env, activity.Kind()) }
