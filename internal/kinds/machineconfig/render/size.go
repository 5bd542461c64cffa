// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

const (
	// MaxSize is the maximum size of a merged configuration as a MachineConfig, in bytes. It is the limit of etcd for
	// an object.
	MaxSize = 1572864
	// warnAt is the share of MaxSize, in percent, at which a warning begins.
	warnAt = 80
	// MaxUnpacked is the maximum size of the unpacked contents of all files, in bytes. It bounds what a small
	// compressed file can become. In base64, as hosts get it, this is less than hostconfig.MaxConfig.
	MaxUnpacked = 11 << 20
)

// checkSize returns the size of a merged configuration, and reports one that is too large or nearly so.
func checkSize(spec mcfgv1.MachineConfigSpec, n *notes) int {
	size := len(spec.Config.Raw)
	for _, argument := range spec.KernelArguments {
		size += len(argument)
	}
	const instead = "compress large files with gzip, or put them into the image of the machine"
	switch {
	case size > MaxSize:
		n.add(TooLarge, "spec", "it has %d bytes, and at most %d fit into a MachineConfig: %s", size, MaxSize, instead)
	case size*100 >= MaxSize*warnAt:
		n.warn("spec", "it has %d bytes, %d %% of the %d that fit into a MachineConfig: %s", size, size*100/MaxSize, MaxSize, instead)
	}
	return size
}
