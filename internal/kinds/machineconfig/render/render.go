// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"github.com/coreos/ignition/v2/config/v3_5/types"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// Rendered is the merged configuration of a pool, with references instead of the contents of Secrets.
type Rendered struct {
	// Sources are the names of the MachineConfigs, in the order in which they were merged.
	Sources []string
	// Spec is the merged configuration as a MachineConfig.
	Spec mcfgv1.MachineConfigSpec
	// Secrets lists where the contents of Secrets belong.
	Secrets []SecretUse
	// Warnings say what a user may want to change. They do not prevent the configuration from being applied.
	Warnings []string
	// Size is the number of bytes that counts for MaxSize.
	Size int

	host hostconfig.Config
}

// Render merges the MachineConfigs of a pool. The error is of type Problems.
func Render(configs []mcfgv1.MachineConfig) (*Rendered, error) {
	n := &notes{}
	parts := readAll(Order(configs), n)
	if n.failed() {
		return nil, n.err()
	}
	merged := mergeAll(parts)
	checkMerged(merged, parts, n)
	out := &Rendered{Sources: names(parts), Spec: newSpec(merged, parts)}
	out.host, out.Secrets = newHost(merged, n)
	addKernelArguments(&out.host, out.Spec.KernelArguments, merged.KernelArguments, n)
	out.Size = checkSize(out.Spec, n)
	out.Warnings = n.warnings
	return out, n.err()
}

// part is the Ignition config of one MachineConfig.
type part struct {
	name            string
	ignition        types.Config
	kernelArguments []string
}

// readAll parses and checks each MachineConfig.
func readAll(configs []mcfgv1.MachineConfig, n *notes) []part {
	parts := make([]part, 0, len(configs))
	for _, mc := range configs {
		n.of = mc.Name
		checkSpec(mc.Spec, n)
		ignition := parse(mc.Spec.Config.Raw, n)
		checkSupported(ignition, n)
		parts = append(parts, part{mc.Name, ignition, mc.Spec.KernelArguments})
	}
	n.of = ""
	return parts
}

func names(parts []part) []string {
	out := make([]string, 0, len(parts))
	for _, p := range parts {
		out = append(out, p.name)
	}
	return out
}

// newSpec returns the merged configuration as the spec of a MachineConfig. Kernel arguments are concatenated.
func newSpec(merged types.Config, parts []part) mcfgv1.MachineConfigSpec {
	var spec mcfgv1.MachineConfigSpec
	for _, p := range parts {
		spec.KernelArguments = append(spec.KernelArguments, p.kernelArguments...)
	}
	spec.Config.Raw = encode(merged)
	return spec
}
