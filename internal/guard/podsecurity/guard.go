// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package podsecurity

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/guard"
)

// Guard objects to pods that break the rules of their profile. It reads nothing, so that a check costs no call.
type Guard struct {
	rules map[guard.Security]rules
}

// rules are the checks of one profile.
type rules struct {
	level     api.Level
	evaluator policy.Evaluator
}

// NewGuard returns a guard with the rules of all profiles.
func NewGuard() (*Guard, error) {
	g := &Guard{rules: map[guard.Security]rules{}}
	for name, p := range profiles() {
		evaluator, err := p.evaluator()
		if err != nil {
			return nil, fmt.Errorf("rules of pods: %w", err)
		}
		g.rules[name] = rules{p.level, evaluator}
	}
	return g, nil
}

// Object implements guard.Guard. A volume claim breaks no rule for pods.
func (g *Guard) Object(_ context.Context, _ client.Object, pod guard.Pod) (*guard.Objection, error) {
	if pod.Template == nil {
		return nil, nil
	}
	broken, err := g.Broken(pod.Security, pod.Template)
	if err != nil || len(broken) == 0 {
		return nil, err
	}
	return &guard.Objection{
		Reason: common.ReasonPodSecurityViolation,
		Message: fmt.Sprintf("%s is not written: its pod breaks the %s Pod Security Standard: %s",
			pod.String(), g.rules[pod.Security].level, strings.Join(broken, ". ")),
	}, nil
}

// Broken lists which rules of a profile a pod breaks, where, and what to write instead.
func (g *Guard) Broken(profile guard.Security, pod *corev1.PodTemplateSpec) ([]string, error) {
	with, known := g.rules[profile]
	if !known {
		return nil, fmt.Errorf("there are no rules of pods named %q", profile)
	}
	pod = withDefaults(pod)
	var broken []string
	for _, result := range with.evaluator.EvaluatePod(api.LevelVersion{Level: with.level, Version: api.LatestVersion()}, &pod.ObjectMeta, &pod.Spec) {
		if !result.Allowed {
			broken = append(broken, result.ForbiddenDetail)
		}
	}
	return broken, nil
}

// withDefaults sets what the API server would set, as far as the checks look at it: a volume without a source is an
// empty directory.
func withDefaults(pod *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	out := pod.DeepCopy()
	for i := range out.Spec.Volumes {
		if v := &out.Spec.Volumes[i]; v.VolumeSource == (corev1.VolumeSource{}) {
			v.EmptyDir = &corev1.EmptyDirVolumeSource{}
		}
	}
	return out
}
