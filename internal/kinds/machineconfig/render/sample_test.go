// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/render"
)

func TestTheSampleRenders(t *testing.T) {
	raw, err := os.ReadFile("../../../../config/samples/machineconfig/machineconfig.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var mc mcfgv1.MachineConfig
	if err := yaml.UnmarshalStrict(raw, &mc); err != nil {
		t.Fatal(err)
	}
	rendered, err := render.Render([]mcfgv1.MachineConfig{mc})
	if err != nil {
		t.Fatalf("expected a sample that works, got %v", err)
	}
	host, _, err := rendered.Complete("infra", nil, nil)
	if err != nil || len(host.Files) != 2 || string(*host.Files[0].Contents) != "pool pool.ntp.org iburst\n" || string(*host.Files[1].Contents) != "kernel.pid_max = 131072\n" {
		t.Errorf("expected the files of the sample, got %+v (%v)", host.Files, err)
	}
}
