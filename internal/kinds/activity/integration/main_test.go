// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests Activity end to end: the real manager, ServiceAccount, roles and admission policies, a real
// API server with the real controllers, and simulated nodes. There, the commands true and false end by themselves,
// others when they are stopped. Calls are read from the server's audit log.
package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/activity"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var env operator.Suite

func TestMain(m *testing.M) { operator.Main(m, &env, activity.Kind()) }
