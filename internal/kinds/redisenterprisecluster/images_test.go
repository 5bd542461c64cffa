// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
)

// from holds the default images of the agent and of the Redis server.
var from = desired.Images{Agent: "opcrew/opcrew-agent:test", Redis: "docker.io/valkey/valkey:8.1"}
