// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests Memcached end to end, with the real manager and its roles, a real API server with the real
// controllers, and simulated nodes. The tests count the operator's API calls in the audit log. Unit tests are next to
// the code.
package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/memcached"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var env operator.Suite

func TestMain(m *testing.M) { operator.Main(m, &env, memcached.Kind()) }
