// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests EtcdBackup end to end: the real manager with its deployed ServiceAccount and roles, and a
// real API server with the real controllers. The tests play the kubelet: they make pods run and end. The calls that it
// makes are read from the server's audit log. Pure functions are tested beside their code.
package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/etcdbackup"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var env operator.Suite

func TestMain(m *testing.M) { operator.Main(m, &env, etcdbackup.Kind()) }
