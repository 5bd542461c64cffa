// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"errors"
	"fmt"
	"testing"
)

func TestAnErrorHasItsExitCode(t *testing.T) {
	plain := errors.New("it is so")
	for want, err := range map[int]error{
		1:  plain,
		42: &Error{42, plain},
		3:  errors.Join(errors.New("more"), fmt.Errorf("within: %w", &Error{3, plain})),
	} {
		if got := Code(err, 1); got != want || !errors.Is(err, plain) {
			t.Errorf("%v: expected exit code %d, got %d", err, want, got)
		}
	}
}
