// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestTheExitCodeDiffersForUsageAndFailure(t *testing.T) {
	for _, test := range []struct {
		args           string
		want           int
		stdout, stderr string
	}{
		{"", exitUsage, "", "usage: opcrew-machine COMMAND"},
		{"what", exitUsage, "", "uninstall"},
		{"version", exitOK, "dev\n", ""},
		{"install --help", exitOK, "-server address", ""},
		{"install", exitUsage, "", "--server must begin with https://"},
		{"install --server https://a --node a --root /none", exitFailed, "", "open the root of the host"},
		{"uninstall --help", exitOK, "-restore", ""},
		{"uninstall more", exitUsage, "", `\"more\" is not a flag`},
		{"uninstall --root /none", exitFailed, "", "open the root of the host"},
		{"run --help", exitOK, "", ""},
		{"run more", exitUsage, "", "is not a flag"},
		{"firewall", exitUsage, "", "the name of the Node is missing"},
		{"firewall --node a more", exitUsage, "", "is not a flag"},
		{"firewall --node a", exitFailed, "", "find the credentials of the pod"},
		{"restore more", exitUsage, "", "is not a flag"},
	} {
		t.Run(test.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := execute(t.Context(), strings.Fields(test.args), &stdout, &stderr, slog.New(slog.NewJSONHandler(&stderr, nil)))
			if code != test.want || !strings.Contains(stdout.String(), test.stdout) || !strings.Contains(stderr.String(), strings.ReplaceAll(test.stderr, `\"`, `"`)) {
				t.Errorf("exit code %d, expected %d; printed %q and %q", code, test.want, stdout.String(), stderr.String())
			}
		})
	}
}
