// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/guard/podsecurity"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/build"
	"github.com/opcrew/opcrew/internal/podtemplate"
)

func restricted(m *customv1.MicroServiceDeploy) {
	m.Spec.SecurityProfile = common.SecurityProfileRestricted
}

func TestPodsMeetTheStandardOfTheirProfile(t *testing.T) {
	standards, err := podsecurity.NewGuard()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		object *customv1.MicroServiceDeploy
		rules  guard.Security
	}{
		"ordinary":                  {newInstance(), guard.Baseline},
		"behind a proxy":            {newInstance(needsAuth), guard.Baseline},
		"restricted":                {newInstance(restricted), guard.Restricted},
		"restricted behind a proxy": {newInstance(restricted, needsAuth), guard.Restricted},
	} {
		f := facts{agentImage: agentImage, credentials: true}
		d := decideAt(test.object, f)
		if got := deployment(test.object, f.rollout, d).Security; got != test.rules {
			t.Errorf("%s: expected its pods to have the rules %q, got %q", name, test.rules, got)
		}
		pod := podtemplate.Convert[*corev1.PodTemplateSpec](build.Template(test.object, d.pods))
		if broken, err := standards.Broken(test.rules, pod); err != nil || len(broken) > 0 {
			t.Errorf("%s: expected its pods to be allowed, got %v (%v)", name, broken, err)
		}
		if broken, _ := standards.Broken(guard.Restricted, pod); test.rules == guard.Baseline && len(broken) == 0 {
			t.Errorf("%s: expected images that start as root to work", name)
		}
	}
}
