// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package service

import (
	"strings"
	"testing"
)

func TestTheClockIsThatOfThisBoot(t *testing.T) {
	first, err := kernel{}.Now()
	if err != nil {
		t.Fatal(err)
	}
	second, err := kernel{}.Now()
	if err != nil || first.Boot != second.Boot || len(first.Boot) != 36 || second.Uptime < first.Uptime || first.Uptime <= 0 {
		t.Errorf("expected one boot id and a clock that only advances, got %+v, %+v and %v", first, second, err)
	}
	if line, err := (kernel{}).CommandLine(); err != nil || strings.TrimSpace(line) == "" {
		t.Errorf("expected the kernel command line, got %q and %v", line, err)
	}
}
