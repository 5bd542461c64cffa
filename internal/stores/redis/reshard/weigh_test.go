// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reshard

import (
	"context"
	"fmt"
	"testing"

	"github.com/opcrew/opcrew/internal/stores/redis/server"
)

// small is a server that uses little memory. It answers no command except INFO.
type small struct{ server.Store }

func (small) Do(_ context.Context, _ string, commands ...server.Command) ([]any, error) {
	if fmt.Sprint(commands[0]...) != fmt.Sprint("INFO", "memory") {
		return nil, fmt.Errorf("expected %v not to be asked for", commands)
	}
	return []any{"used_memory:1000000\r\n"}, nil
}

func TestKeysAreNotWeighedWhereAllOfThemAreLess(t *testing.T) {
	b := &batch{Store: small{}, Move: Move{From: End{"a:1", "a:1"}}, slots: []int{5}}
	if large, err := b.leaveOut(t.Context()); large != nil || err != nil || len(b.slots) != 1 {
		t.Errorf("expected nothing to be asked for, got %v, %v", large, err)
	}
}
