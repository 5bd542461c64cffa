// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package podsecurity

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/guard/podsecurity"
)

const kinds = "../../internal/kinds"

// rules maps each kind to the security rules that its expected pods must satisfy.
var rules = map[string]guard.Security{
	"activity": guard.HostCommand, "appservice": guard.Baseline, "diva": guard.SSHServer, "etcdbackup": guard.Restricted,
	"etcdcluster": guard.Restricted, "memcached": guard.Restricted, "microservicedeploy": guard.Baseline, "redisenterprisecluster": guard.Restricted,
}

// golden returns the expected pods in the golden files of all kinds. The keys are file names.
func golden(t *testing.T) map[string]*corev1.PodTemplateSpec {
	t.Helper()
	out := map[string]*corev1.PodTemplateSpec{}
	err := filepath.WalkDir(kinds, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" || filepath.Base(filepath.Dir(path)) != "testdata" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if pod := podOf(raw); pod != nil {
			file, _ := filepath.Rel(kinds, path)
			out[file] = pod
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// podOf returns the pod template in an object. It returns nil if the text is not an object with pods.
func podOf(raw []byte) *corev1.PodTemplateSpec {
	var child struct {
		Kind string
		Spec struct{ Template *corev1.PodTemplateSpec }
	}
	if yaml.Unmarshal(raw, &child) != nil {
		return nil
	}
	switch child.Kind {
	case "Deployment", "StatefulSet":
		return child.Spec.Template
	case "Pod":
		pod := &corev1.PodTemplateSpec{}
		if yaml.Unmarshal(raw, pod) == nil {
			return pod
		}
	}
	return nil
}

func TestTheGoldenPodsOfEveryKindAreAllowed(t *testing.T) {
	standards, err := podsecurity.NewGuard()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for file, pod := range golden(t) {
		kind, _, _ := strings.Cut(filepath.ToSlash(file), "/")
		profile, known := rules[kind]
		if !known {
			t.Errorf("%s: expected the rules of its kind to be listed here", file)
			continue
		}
		seen[kind]++
		if broken, err := standards.Broken(profile, pod); err != nil || len(broken) > 0 {
			t.Errorf("%s: expected the pod to be allowed, got %v (%v)", file, broken, err)
		}
	}
	for kind := range rules {
		if seen[kind] < 2 {
			t.Errorf("%s: expected golden pods of the article's object and of one with all fields, got %d", kind, seen[kind])
		}
	}
}
