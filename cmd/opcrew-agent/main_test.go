// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

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
		{"", exitUsage, "", "usage: opcrew-agent COMMAND"},
		{"what", exitUsage, "", "auth-proxy"},
		{"version", exitOK, "dev\n", ""},
		{"auth-proxy --help", exitOK, "-credentials directory", ""},
		{"auth-proxy", exitUsage, "", "--route must be set"},
		{"auth-proxy --address 256.0.0.1 --route 1=2 --credentials /none", exitFailed, "", "bind a port"},
		{"install --help", exitOK, "-to file", ""},
		{"install", exitUsage, "", "--to must be the absolute path"},
		{"install --to /none/there", exitFailed, "", "copy this program to /none/there"},
		{"redis-agent --help", exitOK, "-page-port port", ""},
		{"redis-agent --home-port 0", exitUsage, "", "port 0 is not a valid port"},
		{"redis-agent --probes-port 1 --metrics-port 2 --page-port 1", exitUsage, "", "port 1 is not a valid port, or is used twice"},
		{"redis-ping --help", exitOK, "-port port", ""},
		{"redis-ping", exitUsage, "", "--port must be 1 to 65535"},
		{"redis-ping --port 1", exitFailed, "", "connection refused"},
		{"redis-server --help", exitOK, "-place place", ""},
		{"redis-server --place away", exitUsage, "", "--place must be home or guest"},
		{"run-etcd --help", exitOK, "-start-file file", ""},
		{"run-etcd --cluster 1 --member a", exitUsage, "", "the command line of etcd must follow --"},
		{"run-etcd --cluster 1 --member a --start-file /none --termination-log /none/there -- true", 3, "", "NoAuthorisation"},
		{"run-on-host --help", exitOK, "-markers directory", ""},
		{"run-on-host --stage what", exitUsage, "", "--stage must be host or shim"},
		{"run-on-host --result /none/there", exitFailed, "", "open the result file"},
		{"run-over-ssh --help", exitOK, "-secrets directory", ""},
		{"run-over-ssh --order=", exitUsage, "", "--order and --result must be set"},
		{"run-over-ssh --result /none/there", exitFailed, "", "open the result file"},
		{"ssh-files --help", exitOK, "-from directory", ""},
		{"ssh-files --to /none", exitUsage, "", "--from must be set"},
		{"ssh-files --check --to /none", exitFailed, "", "have not been written yet"},
	} {
		t.Run(test.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), strings.Fields(test.args), &stdout, &stderr, slog.New(slog.NewJSONHandler(&stderr, nil)))
			if code != test.want || !strings.Contains(stdout.String(), test.stdout) || !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("exit code %d, expected %d; printed %q and %q", code, test.want, stdout.String(), stderr.String())
			}
		})
	}
}
