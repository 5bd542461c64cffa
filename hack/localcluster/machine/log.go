// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// InitLog is the name of the log of a machine's init.
const InitLog = "init"

// LogTail returns the last lines of a service's log, for error messages. A node with systemd has the logs of its
// services in its journal.
func LogTail(st *state.State, machine, service string, lines int) string {
	if st.Systemd(machine) && service != InitLog {
		return journal(st, machine, service, lines)
	}
	data, err := os.ReadFile(st.LogFile(machine, service))
	if err != nil {
		return fmt.Sprintf("(no log of %s on %s: %v)", service, machine, err)
	}
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

func journal(st *state.State, machine, service string, lines int) string {
	ctx, cancel := context.WithTimeout(context.Background(), journalTimeout)
	defer cancel()
	text, err := Output(ctx, st, machine, "journalctl", "--no-pager", "--lines", strconv.Itoa(lines), "--unit", service)
	if err != nil {
		return fmt.Sprintf("(no journal of %s on %s: %v)", service, machine, err)
	}
	return text
}

const journalTimeout = 5 * time.Second
