// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/render"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// FuzzRender merges two arbitrary configs. Whatever they contain, the result is a list of problems, or a configuration
// that a host accepts and that renders to the same name again.
func FuzzRender(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.in.yaml")
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var t testing.T
		for _, mc := range parseAll(&t, content) {
			f.Add(mc.Spec.Config.Raw, []byte(`{"ignition":{"version":"3.5.0"}}`))
		}
	}
	for _, w := range wrongs {
		var t testing.T
		f.Add(one(&t, "a", w.config).Spec.Config.Raw, []byte(`{"ignition":{"version":"3.0.0"}}`))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		configs := []mcfgv1.MachineConfig{labelled("a", "worker"), labelled("b", "infra")}
		configs[0].Spec.Config.Raw, configs[1].Spec.Config.Raw = first, second
		rendered, err := render.Render(configs)
		if err != nil {
			if problems := (render.Problems)(nil); !errors.As(err, &problems) {
				t.Fatalf("expected problems, got %v", err)
			}
			return
		}
		host, encoded, err := rendered.Complete("p", func(render.SecretKey) ([]byte, bool) { return []byte("x"), true }, digest)
		if err != nil {
			return
		}
		back, err := hostconfig.Parse(encoded)
		if err != nil || back.Name != host.Name {
			t.Fatalf("a host refuses the configuration %v: %v", host, err)
		}
		again(t, rendered, host.Name)
	})
}

// again renders the merged MachineConfig, which must have the same meaning as its sources.
func again(t *testing.T, rendered *render.Rendered, want string) {
	t.Helper()
	merged := labelled("merged", "worker")
	merged.Spec = rendered.Spec
	second, err := render.Render([]mcfgv1.MachineConfig{merged})
	if err != nil {
		t.Fatalf("the merged MachineConfig cannot be rendered: %v\n%s", err, merged.Spec.Config.Raw)
	}
	host, _, err := second.Complete("p", func(render.SecretKey) ([]byte, bool) { return []byte("x"), true }, digest)
	if err != nil || host.Name != want {
		t.Fatalf("expected the merged MachineConfig to have the name %s, got %s, %v\n%s", want, host.Name, err, merged.Spec.Config.Raw)
	}
	if strings.Contains(string(merged.Spec.Config.Raw), "vnd.opcrew.secret") {
		t.Fatalf("the merged MachineConfig has a placeholder: %s", merged.Spec.Config.Raw)
	}
}
