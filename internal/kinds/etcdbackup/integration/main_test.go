// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests EtcdBackup as a user meets it: the real manager, under the
// ServiceAccount and the roles that are deployed, on a real API server with the real
// controllers. The tests themselves are the kubelet: they have pods run and end. What calls it
// makes is read from the server's audit log. Pure functions are tested beside their code.
package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/etcdbackup"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var env operator.Suite

func TestMain(m *testing.M) { operator.Main(m, &env, etcdbackup.Kind()) }
