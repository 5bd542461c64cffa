// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package runpod

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

func TestThePodOfTheArticlesActivityAndOfOneWithAllFields(t *testing.T) {
	for _, name := range []string{"article", "all-fields"} {
		t.Run(name, func(t *testing.T) {
			a := manifest(t, name+".yaml")
			order, err := Order(a, time.Time{}, "4f6e")
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, name+"-pod.yaml", Pod(a, &run.Start{Order: order, Boot: "4f6e"}, "opcrew/opcrew-agent:v1"))
		})
	}
}

func TestThePodOfAnActivityOverSSH(t *testing.T) {
	a := manifest(t, "ssh.yaml")
	order, err := Order(a, time.Time{}, "")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "ssh-pod.yaml", OverSSH(a, &run.Start{Order: order}, "opcrew/opcrew-agent:v1"))
}

// The command must reach the agent in the pod unchanged: no shell and no variable expansion of Kubernetes may process
// it.
func TestHostileTextReachesTheRunnerAsItIs(t *testing.T) {
	for _, command := range []string{
		"echo 'a' \"b\" `id` $(id) $HOME $(HOSTNAME) $$(X)", "two\nlines\r\n\ttab", "\x01\x1b[31m\u2028", strings.Repeat("x", 100<<10), `{"uid":"other"}`,
	} {
		a := activitytest.New(func(a *egov1.Activity) { a.Spec.Command, a.Spec.ExecUser = command, "root;id" })
		text, err := Order(a, time.Time{}, "4f6e")
		if err != nil {
			t.Fatal(err)
		}
		got, err := hostjob.ParseOrder([]byte(text))
		if err != nil || got.Command != command || got.User != "root;id" {
			t.Errorf("expected %q as root;id, the runner gets %q as %s: %v", command, got.Command, got.User, err)
		}
	}
}

func TestAnOrderThatDoesNotFitIsAnErrorAndCreatesNoPod(t *testing.T) {
	a := activitytest.New(func(a *egov1.Activity) {
		for range 20 {
			a.Spec.Envs = append(a.Spec.Envs, egov1.Env("A="+strings.Repeat("x", 30<<10)))
		}
	})
	if _, err := Order(a, time.Time{}, "4f6e"); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("expected an error that says how long an order may be, got %v", err)
	}
}

func manifest(t *testing.T, file string) *egov1.Activity {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	a := activitytest.New()
	a.Spec = egov1.ActivitySpec{}
	if err := yaml.UnmarshalStrict(raw, a); err != nil {
		t.Fatal(err)
	}
	return a
}
