// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration tests EtcdBackup end to end: the real manager with its deployed ServiceAccount and roles, and a
// real API server with the real controllers. The tests simulate the kubelet: they make pods run and end. They read the
// operator's API calls from the server's audit log.
package integration

import (
	"testing"

	"github.com/opcrew/opcrew/internal/kinds/etcdbackup"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

var env operator.Suite

func TestMain(m *testing.M) { operator.Main(m, &env, etcdbackup.Kind()) }
