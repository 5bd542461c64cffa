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

// Guard refuses pods that break the rules of their profile. It reads nothing from the cluster, so a check costs no API
// call.
type Guard struct {
	rules map[guard.Security]rules
}

// rules holds the level and the checks of one profile.
type rules struct {
	level     api.Level
	evaluator policy.Evaluator
}

// NewGuard returns a Guard that knows the rules of all profiles.
func NewGuard() (*Guard, error) {
	g := &Guard{rules: map[guard.Security]rules{}}
	for name, p := range profiles() {
		evaluator, err := p.evaluator()
		if err != nil {
			return nil, fmt.Errorf("load the Pod Security rules: %w", err)
		}
		g.rules[name] = rules{p.level, evaluator}
	}
	return g, nil
}

// Object implements guard.Guard. It accepts every volume claim, because Pod Security Standards have rules for pods
// only.
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

// Broken lists the rules of a profile that a pod breaks. Each entry names the field, and what the user can write
// instead.
func (g *Guard) Broken(profile guard.Security, pod *corev1.PodTemplateSpec) ([]string, error) {
	with, known := g.rules[profile]
	if !known {
		return nil, fmt.Errorf("there is no Pod Security profile named %q", profile)
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

// withDefaults sets the defaults of the API server that the checks depend on: a volume without a source is an emptyDir.
func withDefaults(pod *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	out := pod.DeepCopy()
	for i := range out.Spec.Volumes {
		if v := &out.Spec.Volumes[i]; v.VolumeSource == (corev1.VolumeSource{}) {
			v.EmptyDir = &corev1.EmptyDirVolumeSource{}
		}
	}
	return out
}
