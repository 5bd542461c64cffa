// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostboot

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// dropCapabilities gives up the rights to change what all nodes share with this machine: the kernel's modules, the
// clock, and raw input and output. systemd skips the units that need them.
func dropCapabilities() error {
	for _, capability := range []uintptr{unix.CAP_SYS_MODULE, unix.CAP_SYS_TIME, unix.CAP_SYS_RAWIO} {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil {
			return fmt.Errorf("give up capability %d: %w", capability, err)
		}
	}
	return nil
}
