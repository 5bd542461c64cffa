// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests Diva with the real manager, under the deployed ServiceAccount and roles, on a real API
// server with the real controllers and simulated nodes, volumes and agents. It reads the manager's calls from the
// server's audit log. Unit tests are next to their code.
package integration

import (
	"testing"

	"k8s.io/client-go/kubernetes"

	"github.com/opcrew/opcrew/internal/kinds/diva"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var env operator.Suite

func TestMain(m *testing.M) {
	operator.Main(m, &env, diva.KindReading(func(kubernetes.Interface) diva.LogReader { return agents.log }))
}
