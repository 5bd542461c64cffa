// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostboot

import (
	"os"
	"os/exec"
	"os/signal"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTheSignalOfTheKernelShowsHowASystemEnded(t *testing.T) {
	// If the tests run with SIGHUP ignored, as under nohup, a child would ignore it, too.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP)
	defer signal.Reset(unix.SIGHUP)
	for script, want := range map[string]string{
		"kill -HUP $$":  rebooted,
		"kill -INT $$":  poweredOff,
		"kill -KILL $$": "signal: killed",
		"exit 3":        "exit status 3",
		"exit 0":        "exit status 0",
	} {
		if got := end(exec.Command("/bin/sh", "-c", script).Run()); got != want {
			t.Errorf("%s: got %q, want %q", script, got, want)
		}
	}
}
