// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "testing"

func TestAnAddressHasAHostAndAPort(t *testing.T) {
	for address, want := range map[SSHAddress][2]string{
		"db1":             {"db1", "22"},
		"db1.example:2":   {"db1.example", "2"},
		"10.0.0.5":        {"10.0.0.5", "22"},
		"[fd00::1]":       {"fd00::1", "22"},
		"[fd00::1]:65535": {"fd00::1", "65535"},
	} {
		if got := [2]string{address.Host(), address.Port()}; got != want {
			t.Errorf("%s: expected host and port %v, got %v", address, want, got)
		}
	}
}
