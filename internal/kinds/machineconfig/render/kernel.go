// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"slices"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_5/types"

	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// addKernelArguments adds the arguments of spec.kernelArguments, and those of the Ignition configs after them.
func addKernelArguments(host *hostconfig.Config, arguments []string, ignition types.KernelArguments, n *notes) {
	for _, text := range arguments {
		host.KernelArguments = append(host.KernelArguments, splitArguments(text, "spec.kernelArguments", n)...)
	}
	for _, text := range ignition.ShouldExist {
		host.KernelArguments = append(host.KernelArguments, splitArguments(string(text), configField+".kernelArguments.shouldExist", n)...)
	}
	const removed = configField + ".kernelArguments.shouldNotExist"
	for _, text := range ignition.ShouldNotExist {
		host.RemovedKernelArguments = append(host.RemovedKernelArguments, splitArguments(string(text), removed, n)...)
	}
	for _, argument := range host.RemovedKernelArguments {
		if slices.Contains(host.KernelArguments, argument) {
			n.invalid(removed, "%s is also an argument to add: remove it from one of the lists", argument)
		}
	}
}

// splitArguments splits a text with several arguments at spaces outside double quotes, as the kernel does.
func splitArguments(text, field string, n *notes) []string {
	if strings.ContainsFunc(text, func(r rune) bool { return (r < ' ' && r != '\t') || r == 0x7f }) {
		n.invalid(field, "%q contains a control character: write each argument on a line of its own", text)
		return nil
	}
	quoted := false
	out := strings.FieldsFunc(text, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return !quoted && (r == ' ' || r == '\t')
	})
	for _, argument := range out {
		if strings.ContainsAny(argument, "\"'\\$`") {
			n.unsupported(field, "%s has quotes, backslashes or '$', which boot loaders do not pass on unchanged: write the argument without them", argument)
		}
	}
	return out
}
