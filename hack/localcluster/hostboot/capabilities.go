// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostboot

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
)

var numbers = map[string]uintptr{
	"sys_module": unix.CAP_SYS_MODULE, "sys_time": unix.CAP_SYS_TIME, "sys_rawio": unix.CAP_SYS_RAWIO,
}

// dropCapabilities gives up the rights to change what all nodes share with this machine.
func dropCapabilities() error {
	for _, name := range machine.SharedKernel() {
		number, known := numbers[name]
		if !known {
			return fmt.Errorf("the capability %s has no number", name)
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, number, 0, 0, 0); err != nil {
			return fmt.Errorf("give up the capability %s: %w", name, err)
		}
	}
	return nil
}
