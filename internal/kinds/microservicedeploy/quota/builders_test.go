// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/build"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/config"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/revisions"
	"github.com/opcrew/opcrew/internal/workload"
)

var someTime = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// pinOf returns the pinned annotation of a Deployment that opcrew created for a MicroServiceDeploy.
func pinOf(m *customv1.MicroServiceDeploy) string {
	raw, _ := json.Marshal(build.Settings(m, ""))
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]) + ".template"
}

type option func(*customv1.MicroServiceDeploy)

func newInstance(options ...option) *customv1.MicroServiceDeploy {
	m := &customv1.MicroServiceDeploy{}
	m.Namespace, m.Name, m.UID, m.Generation = "shop", "web", "uid-of-web", 1
	m.CreationTimestamp = metav1.NewTime(someTime)
	m.Spec.MsName, m.Spec.Image = "web", "nginx:1.26"
	for _, option := range options {
		option(m)
	}
	return m
}

func withReplicas(n int32) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Replicas = &n }
}

func withImage(image string) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Image = image }
}

func configFrom(m *customv1.MicroServiceDeploy) {
	m.Spec.ConfigFrom = &customv1.ConfigFrom{SecretRef: customv1.SecretRef{Name: "mine"}}
}

func upTo(n int32) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Autoscaling, m.Spec.MaxReplicas = true, &n }
}

func idle(m *customv1.MicroServiceDeploy) { m.Spec.Idle = true }

func needsAuth(m *customv1.MicroServiceDeploy) { m.Spec.NeedAuth = true }

func withQuota(mode customv1.QuotaMode) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Quota = mode }
}

func ofClass(name string) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Pod = &common.PodOverride{RuntimeClassName: name} }
}

// asks sets resource requests or limits, for example asks("requests.cpu=1", "limits.cpu=2").
func asks(list ...string) option {
	return func(m *customv1.MicroServiceDeploy) {
		r := common.Resources{Requests: map[corev1.ResourceName]common.Amount{}, Limits: map[corev1.ResourceName]common.Amount{}}
		for name, q := range quota(list...) {
			if short, ok := strings.CutPrefix(string(name), "requests."); ok {
				r.Requests[corev1.ResourceName(short)] = common.Amount(q.String())
			} else if short, ok := strings.CutPrefix(string(name), "limits."); ok {
				r.Limits[corev1.ResourceName(short)] = common.Amount(q.String())
			}
		}
		m.Spec.ResourceRequirements = r
	}
}

func of(name string) option {
	return func(m *customv1.MicroServiceDeploy) { m.Name, m.UID = name, types.UID("uid-of-"+name) }
}

func resourcesOf(m *customv1.MicroServiceDeploy) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: workload.Quantities(m.Spec.ResourceRequirements.Requests), Limits: workload.Quantities(m.Spec.ResourceRequirements.Limits),
	}
}

// newTemplate returns the pod template of a revision.
func newTemplate(revision int64, image, configMap string) corev1.PodTemplateSpec {
	template := corev1.PodTemplateSpec{}
	template.Annotations = map[string]string{
		revisions.RevisionAnnotation:     fmt.Sprint(revision),
		revisions.RevisionHashAnnotation: revisions.HashOf(customv1.Revision{Revision: revision, Image: image, Config: configMap}),
	}
	template.Spec.Containers = []corev1.Container{{Name: names.MainContainer, Image: image}}
	if configMap != "" {
		source := &corev1.ConfigMapVolumeSource{}
		source.Name = configMap
		template.Spec.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: source}}}
	}
	return template
}

func newDeployment(m *customv1.MicroServiceDeploy, replicas int32) *appsv1.Deployment {
	d := &appsv1.Deployment{}
	d.Namespace, d.Name, d.UID, d.Generation = m.Namespace, names.Child(m), "uid-of-deployment", 3
	d.Spec.Replicas = &replicas
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: 3, Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
	}
	name := ""
	if c := config.Declared(m); c != nil {
		name = c.Name
	}
	d.Spec.Template = newTemplate(1, m.Spec.Image, name)
	d.Spec.Template.Spec.Containers[0].Resources = resourcesOf(m)
	d.Annotations = map[string]string{common.PinnedAnnotation: pinOf(m)}
	return d
}

// quota parses amounts, for example quota("requests.cpu=1", "pods=4").
func quota(list ...string) Amounts {
	out := Amounts{}
	for _, text := range list {
		name, value, _ := strings.Cut(text, "=")
		out[corev1.ResourceName(name)] = resource.MustParse(value)
	}
	return out
}

// written converts Amounts to strings, so that cmp.Diff can compare them.
func written(a Amounts) map[string]string {
	out := map[string]string{}
	for name, q := range a {
		out[string(name)] = q.String()
	}
	return out
}

// same fails the test if two values differ. what describes the values in the failure message.
func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: not as expected (-expected +found):\n%s", what, diff)
	}
}
