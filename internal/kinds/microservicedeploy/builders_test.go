// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/config"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/quota"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/revisions"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

var someTime = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

const (
	// placeholder is not a valid image. It is the value of spec.image in the manifest of the tutorial article that this
	// API comes from.
	placeholder = "just a image url"
	agentImage  = "opcrew/opcrew-agent:test"
)

// Builders of objects.

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

func withConfig(text string) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Config = text }
}

func asSecret(m *customv1.MicroServiceDeploy) { m.Spec.ConfigAs = customv1.ConfigAsSecret }

func configFrom(m *customv1.MicroServiceDeploy) {
	m.Spec.ConfigFrom = &customv1.ConfigFrom{SecretRef: customv1.SecretRef{Name: "mine"}}
}

func autoscaled(m *customv1.MicroServiceDeploy) { m.Spec.Autoscaling = true }

func upTo(n int32) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Autoscaling, m.Spec.MaxReplicas = true, &n }
}

func idle(m *customv1.MicroServiceDeploy) { m.Spec.Idle = true }

func needsAuth(m *customv1.MicroServiceDeploy) { m.Spec.NeedAuth = true }

func ownAuth(m *customv1.MicroServiceDeploy) {
	m.Spec.NeedAuth, m.Spec.Auth = true, &customv1.Auth{SecretRef: customv1.SecretRef{Name: "users"}}
}

func withQuota(mode customv1.QuotaMode) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Quota = mode }
}

func backTo(revision int64) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.RollbackTo = &revision }
}

func withPorts(ports ...common.Port) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Ports = ports }
}

// asks sets resource requests or limits, for example asks("requests.cpu=1", "limits.cpu=2").
func asks(list ...string) option {
	return func(m *customv1.MicroServiceDeploy) {
		r := common.Resources{Requests: map[corev1.ResourceName]common.Amount{}, Limits: map[corev1.ResourceName]common.Amount{}}
		for name, q := range amountsOf(list...) {
			if short, ok := strings.CutPrefix(string(name), "requests."); ok {
				r.Requests[corev1.ResourceName(short)] = common.Amount(q.String())
			} else if short, ok := strings.CutPrefix(string(name), "limits."); ok {
				r.Limits[corev1.ResourceName(short)] = common.Amount(q.String())
			}
		}
		m.Spec.ResourceRequirements = r
	}
}

// hosted sets the major version (spec.path) and the domain of a MicroServiceDeploy.
func hosted(path string) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Path, m.Spec.BaseDomain = path, "example.com" }
}

func of(name string) option {
	return func(m *customv1.MicroServiceDeploy) { m.Name, m.UID = name, types.UID("uid-of-"+name) }
}

func in(namespace string) option {
	return func(m *customv1.MicroServiceDeploy) { m.Namespace = namespace }
}

func ofService(name string) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.MsName = name }
}

// aged makes a MicroServiceDeploy the given number of seconds younger than MicroServiceDeploys without this option.
func aged(seconds int) option {
	return func(m *customv1.MicroServiceDeploy) {
		m.CreationTimestamp = metav1.NewTime(someTime.Add(time.Duration(seconds) * time.Second))
	}
}

// reached sets status.hosts: the MicroServiceDeploy already has these names under example.com.
func reached(names ...string) option {
	return func(m *customv1.MicroServiceDeploy) {
		for _, name := range names {
			m.Status.Hosts = append(m.Status.Hosts, name+".example.com")
		}
	}
}

func isCurrent(m *customv1.MicroServiceDeploy) { m.Spec.Current = new(true) }

func isNotCurrent(m *customv1.MicroServiceDeploy) { m.Spec.Current = new(false) }

// manifest reads a MicroServiceDeploy from a manifest as a user wrote it.
func manifest(t *testing.T, file string) *customv1.MicroServiceDeploy {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	m := &customv1.MicroServiceDeploy{}
	if err := yaml.UnmarshalStrict(raw, m); err != nil {
		t.Fatal(err)
	}
	m.Namespace = "shop"
	return m
}

// Builders of facts.

// observed returns the facts about a MicroServiceDeploy whose Deployment matches the spec and whose pods are all ready.
func observed(m *customv1.MicroServiceDeploy, replicas int32) facts {
	d := newDeployment(m, replicas)
	f := facts{rollout: workload.Rollout{Deployment: d, Sets: []appsv1.ReplicaSet{{}}}, credentials: true, agentImage: agentImage}
	f.rollout.Sets[0].Spec.Template = *d.Spec.Template.DeepCopy()
	for i := range replicas {
		pod := corev1.Pod{}
		pod.Name = fmt.Sprint("web-", i)
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		f.rollout.Pods = append(f.rollout.Pods, pod)
	}
	return f
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
	d.Annotations = map[string]string{common.PinnedAnnotation: pinOf(m, facts{})}
	return d
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

// sets adds ReplicaSets with the given templates, newest first.
func (f facts) sets(templates ...corev1.PodTemplateSpec) facts {
	for _, template := range templates {
		set := appsv1.ReplicaSet{}
		set.Spec.Template = template
		f.rollout.Sets = append(f.rollout.Sets, set)
	}
	return f
}

// amountsOf parses amounts, for example amountsOf("requests.cpu=1", "pods=4").
func amountsOf(list ...string) quota.Amounts {
	out := quota.Amounts{}
	for _, text := range list {
		name, value, _ := strings.Cut(text, "=")
		out[corev1.ResourceName(name)] = resource.MustParse(value)
	}
	return out
}

// Builders of outcomes.

// done returns an outcome in which the child of the given kind had the given result.
func done(kind string, action ensure.Action, message string) kit.Outcome {
	result := ensure.Result{Action: action, Message: message}
	result.Ref.Kind = kind
	return kit.Outcome{Results: []ensure.Result{{Action: ensure.Unchanged}, result}}
}

// unchanged is the outcome of a plan in which every child was as declared.
var unchanged = done("Service", ensure.Unchanged, "")

// reported returns the MicroServiceDeploy with the status that a reconcile would report.
func reported(m *customv1.MicroServiceDeploy, f facts, done kit.Outcome) *customv1.MicroServiceDeploy {
	reportAt(m, f, done, someTime)
	return m
}

func conditionOf(m *customv1.MicroServiceDeploy, kind string) string {
	c := meta.FindStatusCondition(m.Status.Conditions, kind)
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

// same fails the test if two values differ. what describes the values in the failure message.
func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: not as expected (-expected +found):\n%s", what, diff)
	}
}
