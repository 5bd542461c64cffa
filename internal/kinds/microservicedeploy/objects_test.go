// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/build"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/config"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/ports"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/revisions"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

// kinds returns the kinds of the objects in a plan, in order.
func kinds(t *testing.T, children []ensure.Child) string {
	t.Helper()
	var out []string
	for _, child := range children {
		raw, err := json.Marshal(child.Object)
		if err != nil {
			t.Fatal(err)
		}
		var object struct{ Kind string }
		if err := json.Unmarshal(raw, &object); err != nil {
			t.Fatal(err)
		}
		out = append(out, object.Kind)
	}
	return strings.Join(out, " ")
}

func TestTheChildrenOfTheArticlesObjectAndOfOneWithAllFields(t *testing.T) {
	for _, name := range []string{"article", "all-fields"} {
		t.Run(name, func(t *testing.T) {
			m := manifest(t, name+".yaml")
			f := facts{agentImage: agentImage, gateways: true, credentials: true}
			for _, child := range planAt(m, f, someTime).Children {
				golden.Check(t, fmt.Sprintf("%s-%s.yaml", name, strings.ToLower(kinds(t, []ensure.Child{child}))), child.Object)
			}
		})
	}
}

func TestWhatAnInstanceIsMadeOf(t *testing.T) {
	const least = "Service ServiceAccount"
	gateway := newInstance(hosted("v1"))
	gateway.Spec.Gateway = &customv1.Gateway{Name: "front"}
	withGateways := facts{gateways: true}
	old := newInstance(of("old"), hosted("v1"), in("elsewhere"), aged(-1))
	for name, test := range map[string]struct {
		m    *customv1.MicroServiceDeploy
		f    facts
		want string
	}{
		"the least":                    {newInstance(), facts{}, least + " Deployment"},
		"several pods":                 {newInstance(withReplicas(2)), facts{}, least + " Deployment PodDisruptionBudget"},
		"autoscaled":                   {newInstance(autoscaled), facts{}, least + " Deployment HorizontalPodAutoscaler PodDisruptionBudget"},
		"autoscaled, at one pod":       {newInstance(autoscaled), observed(newInstance(), 1).scaled(), least + " Deployment HorizontalPodAutoscaler PodDisruptionBudget"},
		"configured":                   {newInstance(withConfig("a=1")), facts{}, least + " ConfigMap Deployment"},
		"configured in a Secret":       {newInstance(withConfig("a=1"), asSecret), facts{}, least + " Secret Deployment"},
		"with auth":                    {newInstance(needsAuth), facts{credentials: true}, least + " NetworkPolicy Deployment"},
		"with auth, before its Secret": {newInstance(needsAuth), facts{}, least + " NetworkPolicy"},
		"idle":                         {newInstance(withReplicas(3), autoscaled, idle), facts{}, least + " Deployment"},
		"a bad image":                  {newInstance(withImage(placeholder), withConfig("a=1"), withReplicas(2)), facts{}, least + " PodDisruptionBudget"},
		"a bad image, with pods":       {newInstance(withImage(placeholder)), observed(newInstance(), 1), "ServiceAccount Deployment"},
		"a host":                       {newInstance(hosted("v1")), facts{}, least + " Deployment Ingress"},
		"a host without a gateway":     {newInstance(hosted("v1")), withGateways, least + " Deployment Ingress"},
		"a host of a gateway":          {gateway, withGateways, least + " Deployment HTTPRoute"},
		"a gateway without its API":    {gateway, facts{}, least + " Deployment Ingress"},
		"no host that is its own":      {newInstance(hosted("v1")), facts{}.rivalled(old), least + " Deployment"},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "children", test.want, kinds(t, planAt(test.m, test.f, someTime).Children))
		})
	}
}

// pinOf returns the part of the annotation common.PinnedAnnotation that identifies the pod settings. The other part
// identifies the template.
func pinOf(m *customv1.MicroServiceDeploy, f facts) string {
	raw, _ := json.Marshal(build.Settings(m, configHash(f.config)))
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]) + ".template"
}

func TestWhichFieldsReplacePodsAndWhichDoNot(t *testing.T) {
	all := func() *customv1.MicroServiceDeploy {
		m := manifest(t, "all-fields.yaml")
		m.Spec.RollbackTo = nil
		return m
	}
	spec := func(change func(*customv1.MicroServiceDeploySpec)) option {
		return func(m *customv1.MicroServiceDeploy) { change(&m.Spec) }
	}
	type s = customv1.MicroServiceDeploySpec
	for name, test := range map[string]struct {
		change option
		want   bool
	}{
		"image":                {withImage("other"), true},
		"version":              {spec(func(s *s) { s.Version = "9" }), true},
		"msName":               {spec(func(s *s) { s.MsName = "other" }), true},
		"config":               {withConfig("b=2"), true},
		"configAs":             {spec(func(s *s) { s.ConfigAs = "" }), true},
		"needAuth":             {spec(func(s *s) { s.NeedAuth = false }), true},
		"auth":                 {spec(func(s *s) { s.Auth = nil }), true},
		"resourceRequirements": {asks("requests.cpu=9"), true},
		"probes":               {spec(func(s *s) { s.Probes.Readiness.PeriodSeconds = 9 }), true},
		"envs":                 {spec(func(s *s) { s.Envs = nil }), true},
		"imagePullSecrets":     {spec(func(s *s) { s.ImagePullSecrets = nil }), true},
		"pod":                  {spec(func(s *s) { s.Pod = nil }), true},
		"a targetPort":         {spec(func(s *s) { s.Ports[0].TargetPort = "9" }), true},
		"another port":         {spec(func(s *s) { s.Ports = s.Ports[1:] }), true},
		"a port's name":        {spec(func(s *s) { s.Ports[0].Name = "other" }), true},
		"HTTP/2 to the proxy":  {spec(func(s *s) { s.Ports[0].AppProtocol = ports.H2c }), true},
		"securityProfile":      {restricted, true},
		"quota by class":       {spec(func(s *s) { s.Quota = customv1.QuotaPriorityClass }), true},

		"replicas":          {withReplicas(9), false},
		"autoscaling":       {spec(func(s *s) { s.Autoscaling = !s.Autoscaling }), false},
		"maxReplicas":       {spec(func(s *s) { s.MaxReplicas = nil }), false},
		"metrics":           {spec(func(s *s) { s.Metrics = nil }), false},
		"idle":              {idle, false},
		"quota":             {spec(func(s *s) { s.Quota = "" }), false},
		"path":              {spec(func(s *s) { s.Path = "v9" }), false},
		"baseDomain":        {spec(func(s *s) { s.BaseDomain = "" }), false},
		"gateway":           {spec(func(s *s) { s.Gateway = nil }), false},
		"ingressClassName":  {spec(func(s *s) { s.IngressClassName = "" }), false},
		"current":           {isNotCurrent, false},
		"creationTimestamp": {spec(func(s *s) { s.CreationTimestamp = "9" }), false}, //nolint:staticcheck // the field is deprecated only for users
		"a nodePort":        {spec(func(s *s) { s.Ports[0].NodePort = nil }), false},
		"appProtocol":       {spec(func(s *s) { s.Ports[0].AppProtocol = "" }), false},
	} {
		before, after := all(), all()
		test.change(after)
		f := facts{agentImage: agentImage}
		if got := pinOf(before, f) != pinOf(after, f); got != test.want {
			t.Errorf("%s: expected a change to replace pods: %v, got %v", name, test.want, got)
		}
		if !test.want { // settings that do not replace pods must not occur in the pod template
			same(t, "template after a change of "+name, templateFor(before, f), templateFor(after, f))
		}
	}
}

func templateFor(m *customv1.MicroServiceDeploy, f facts) any {
	r, _ := revisions.Choose(m, nil, specConfig(m, f.config))
	return templateOf(m, f, r)
}

func TestAChangeOfTheUsersSecretReplacesPods(t *testing.T) {
	m := newInstance(configFrom)
	f := func(hash string) facts { return facts{config: &config.Config{Name: "mine", Secret: true, Hash: hash}} }
	if pinOf(m, f("a")) == pinOf(m, f("b")) {
		t.Error("expected other contents to replace pods")
	}
	before, after := templateOf(m, f("a"), rev(1, "nginx", "mine")), templateOf(m, f("b"), rev(1, "nginx", "mine"))
	if before.Annotations[build.ConfigHashAnnotation] == after.Annotations[build.ConfigHashAnnotation] {
		t.Error("expected the template to be another one, else Kubernetes replaces nothing")
	}
}

// Regression: pods that had to stay unchanged lost their pin (the annotation that keeps their template). When opcrew
// was upgraded and a bad image was reverted, these pods were restarted.
func TestHeldPodsStayPinnedAndKeepTheirTemplate(t *testing.T) {
	m := newInstance(withImage(placeholder))
	f := observed(newInstance(), 2)
	f.rollout.Deployment.Annotations = map[string]string{common.PinnedAnnotation: "settings.template"}
	child := deployment(m, f.rollout, decideAt(m, f))
	if child.Pin != nil || len(child.Carry) != 1 || child.Carry[0] != "spec.template" {
		t.Errorf("expected the live template to be kept, got pin %v and carry %v", child.Pin, child.Carry)
	}
	raw, _ := json.Marshal(child.Object)
	if !strings.Contains(string(raw), `"opcrew.io/pinned":"settings.template"`) {
		t.Errorf("expected the pin to stay, got %s", raw)
	}
}

func TestWhoNamesAnAccountWantsToBeIt(t *testing.T) {
	m := newInstance()
	spec := templateOf(m, facts{}, rev(1, "nginx", "")).Spec
	if *spec.ServiceAccountName != "web" || *spec.AutomountServiceAccountToken {
		t.Errorf("expected the instance's own account and no token, got %s, %v", *spec.ServiceAccountName, *spec.AutomountServiceAccountToken)
	}
	m.Spec.Pod = &common.PodOverride{ServiceAccountName: "default"}
	spec = templateOf(m, facts{}, rev(1, "nginx", "")).Spec
	if *spec.ServiceAccountName != "default" || spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
		t.Error("expected no token of the default account")
	}
	m.Spec.Pod = &common.PodOverride{ServiceAccountName: "robot"}
	spec = templateOf(m, facts{}, rev(1, "nginx", "")).Spec
	if *spec.ServiceAccountName != "robot" || spec.AutomountServiceAccountToken != nil {
		t.Errorf("expected account robot to decide itself about its token, got %s, %v", *spec.ServiceAccountName, spec.AutomountServiceAccountToken)
	}
}

func TestPullSecretsStandOnceEach(t *testing.T) {
	m := newInstance()
	m.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "a"}, {Name: "b"}}
	m.Spec.Pod = &common.PodOverride{ImagePullSecrets: []corev1.LocalObjectReference{{Name: "b"}, {Name: "c"}}}
	seen := map[string]bool{}
	for _, secret := range templateOf(m, facts{}, rev(1, "nginx", "")).Spec.ImagePullSecrets {
		if seen[*secret.Name] {
			t.Errorf("expected %s once: the API server refuses a list that has it twice", *secret.Name)
		}
		seen[*secret.Name] = true
	}
	if !seen["b"] || !seen["c"] {
		t.Errorf("expected those of the override, got %v", seen)
	}
}
