// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests Diva with the real manager under its ServiceAccount and roles. The API server and the
// Kubernetes controllers are real; nodes, volumes and SSH agents are simulated. The tests read the manager's API calls
// from the audit log.
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
