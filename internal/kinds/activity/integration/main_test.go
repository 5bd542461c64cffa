// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests Activity with the real manager, ServiceAccount, roles and admission policies. The API
// server and the Kubernetes controllers are real; nodes are simulated. On them, the commands true and false end by
// themselves, and other commands end when they are stopped.
package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/activity"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var env operator.Suite

func TestMain(m *testing.M) { operator.Main(m, &env, activity.Kind()) }
