// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package service

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

func TestUpdateGrubEndsByItselfOrAfterALimit(t *testing.T) {
	dir := t.TempDir()
	script := func(text string) string {
		p := filepath.Join(dir, "update-grub")
		if err := os.WriteFile(p, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return p
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := runBoot(ended, script("echo written > "+dir+"/grub.cfg\n"), time.Minute); err != nil {
		t.Errorf("expected the end of the agent not to end update-grub, got %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "grub.cfg")); err != nil || string(text) != "written\n" {
		t.Errorf("expected the configuration to be written, got %q and %v", text, err)
	}
	if err := runBoot(t.Context(), script("sleep 60\n"), 50*time.Millisecond); err == nil {
		t.Error("expected an update-grub that hangs to be ended")
	}
}
