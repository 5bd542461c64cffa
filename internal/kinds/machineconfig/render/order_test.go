// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"slices"
	"testing"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/render"
)

func labelled(name, role string) mcfgv1.MachineConfig {
	mc := mcfgv1.MachineConfig{}
	mc.Name = name
	if role != "" {
		mc.Labels = map[string]string{mcfgv1.RoleLabel: role}
	}
	return mc
}

func TestACustomPoolOverridesWorkerWhateverTheNamesAre(t *testing.T) {
	configs := []mcfgv1.MachineConfig{
		labelled("99-b", "worker"), labelled("00-infra", "infra"), labelled("50-x", ""), labelled("01-a", "worker"), labelled("10-infra", "infra"),
	}
	var got []string
	for _, mc := range render.Order(configs) {
		got = append(got, mc.Name)
	}
	if want := []string{"01-a", "99-b", "00-infra", "10-infra", "50-x"}; !slices.Equal(got, want) {
		t.Errorf("expected the merge order %v, got %v", want, got)
	}
	if configs[0].Name != "99-b" {
		t.Error("expected the caller's list to keep its order")
	}
}

func TestKernelArgumentsAreConcatenatedInMergeOrder(t *testing.T) {
	worker, infra := one(t, "99-worker", "kernelArguments: {shouldExist: [quiet], shouldNotExist: [debug]}"), one(t, "00-infra", "")
	worker.Labels = map[string]string{mcfgv1.RoleLabel: "worker"}
	worker.Spec.KernelArguments = []string{"hugepagesz=2M hugepages=64", "nosmt"}
	infra.Spec.KernelArguments = []string{"hugepagesz=1G", "hugepages=4"}
	rendered, err := render.Render([]mcfgv1.MachineConfig{infra, worker})
	if err != nil {
		t.Fatal(err)
	}
	host, _, err := rendered.Complete("infra", values, digest)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"hugepagesz=2M", "hugepages=64", "nosmt", "hugepagesz=1G", "hugepages=4", "quiet"}; !slices.Equal(host.KernelArguments, want) {
		t.Errorf("expected the arguments %v, got %v", want, host.KernelArguments)
	}
	if want := []string{"debug"}; !slices.Equal(host.RemovedKernelArguments, want) {
		t.Errorf("expected the removed arguments %v, got %v", want, host.RemovedKernelArguments)
	}
}
