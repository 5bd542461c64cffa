// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// console executes the commands that clients send to a simulated server.
type console struct{ *node }

func refuse(text string, args ...any) error { return &redis.Refusal{Text: fmt.Sprintf(text, args...)} }
