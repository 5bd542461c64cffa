// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

func tolerating(d *appsv1ac.DeploymentApplyConfiguration, c *corev1ac.ContainerApplyConfiguration) {
	d.Spec.Template.Spec.WithTolerations(
		corev1ac.Toleration().WithKey("gpu").WithOperator("Exists"),
		corev1ac.Toleration().WithKey("spot").WithValue("yes"))
	d.Spec.Template.Spec.WithNodeSelector(map[string]string{"disk": "ssd"})
	c.WithEnv(corev1ac.EnvVar().WithName("POD").WithValueFrom(corev1ac.EnvVarSource().
		WithFieldRef(corev1ac.ObjectFieldSelector().WithFieldPath("metadata.name"))))
}

func TestListsAndMapsThatAreOneValueAreOursAsAWhole(t *testing.T) {
	for name, test := range map[string]struct {
		live func(*corev1.PodSpec)
		path string
	}{
		"one more toleration": {func(p *corev1.PodSpec) {
			p.Tolerations = append(p.Tolerations, corev1.Toleration{Key: "x", Operator: "Exists"})
		}, "tolerations"},
		"one toleration less":         {func(p *corev1.PodSpec) { p.Tolerations = p.Tolerations[:1] }, "tolerations"},
		"no toleration":               {func(p *corev1.PodSpec) { p.Tolerations = nil }, "tolerations"},
		"another key":                 {func(p *corev1.PodSpec) { p.Tolerations[0].Key = "tpu" }, "tolerations"},
		"a value that was taken away": {func(p *corev1.PodSpec) { p.Tolerations[1].Value = "" }, "tolerations"},
		"another order": {func(p *corev1.PodSpec) {
			p.Tolerations[0], p.Tolerations[1] = p.Tolerations[1], p.Tolerations[0]
		}, "tolerations"},
		"one more label to select nodes by": {func(p *corev1.PodSpec) { p.NodeSelector["zone"] = "a" }, "nodeSelector"},
		"no label to select nodes by":       {func(p *corev1.PodSpec) { p.NodeSelector = nil }, "nodeSelector"},
		"another field of the pod":          {func(p *corev1.PodSpec) { p.Containers[0].Env[1].ValueFrom.FieldRef.FieldPath = "metadata.uid" }, "fieldRef"},
	} {
		t.Run(name, func(t *testing.T) {
			live := func(d *appsv1.Deployment) { test.live(&d.Spec.Template.Spec) }
			if drift := driftOf(t, tolerating, live); !strings.Contains(drift, test.path) {
				t.Errorf("drift at %q, expected it to name %s", drift, test.path)
			}
		})
	}
}

func TestPortsAreDistinguishedByNumberAndProtocol(t *testing.T) {
	dns := func(_ *appsv1ac.DeploymentApplyConfiguration, c *corev1ac.ContainerApplyConfiguration) {
		c.WithPorts(corev1ac.ContainerPort().WithName("dns").WithContainerPort(53),
			corev1ac.ContainerPort().WithName("dns-udp").WithContainerPort(53).WithProtocol("UDP"))
	}
	otherOrder := func(d *appsv1.Deployment) { slices.Reverse(main(d).Ports) }
	if drift := driftOf(t, dns, otherOrder); drift != "" {
		t.Errorf("drift at %q, expected none", drift)
	}
	renamed := func(d *appsv1.Deployment) { main(d).Ports[2].Name = "x" }
	if drift := driftOf(t, dns, renamed); !strings.Contains(drift, `protocol="UDP"].name`) {
		t.Errorf("drift at %q, expected it to name the UDP port", drift)
	}
	gone := func(d *appsv1.Deployment) { main(d).Ports = main(d).Ports[:2] }
	if drift := driftOf(t, dns, gone); !strings.Contains(drift, `protocol="UDP"]`) {
		t.Errorf("drift at %q, expected it to name the UDP port", drift)
	}
}

func TestADeclaredFinalizerIsOneOfASet(t *testing.T) {
	held := func(d *appsv1ac.DeploymentApplyConfiguration, _ *corev1ac.ContainerApplyConfiguration) {
		d.WithFinalizers("opcrew.io/hold")
	}
	oneMore := func(d *appsv1.Deployment) { d.Finalizers = []string{"example.com/hold", "opcrew.io/hold"} }
	if drift := driftOf(t, held, oneMore); drift != "" {
		t.Errorf("drift at %q, expected none", drift)
	}
	gone := func(d *appsv1.Deployment) { d.Finalizers = []string{"example.com/hold"} }
	if drift := driftOf(t, held, gone); !strings.Contains(drift, "finalizers") {
		t.Errorf("drift at %q, expected it to name the finalizer", drift)
	}
}

func TestAFieldThatTheServerFillsInInsideOfOneValueIsNoDrift(t *testing.T) {
	filledIn := func(d *appsv1.Deployment) {
		main(d).Env[1].ValueFrom.FieldRef.APIVersion = "v1"
	}
	if drift := driftOf(t, tolerating, filledIn); drift != "" {
		t.Errorf("drift at %q, expected none: every pod that learns its own name would be contested", drift)
	}
}

func TestClaimTemplatesAreNoDriftAsTheServerFillsThemIn(t *testing.T) {
	in := mustDeclare(t, shop(), Child{Object: appsv1ac.StatefulSet("db", "demo").WithSpec(appsv1ac.StatefulSetSpec().
		WithVolumeClaimTemplates(corev1ac.PersistentVolumeClaim("data", "").WithSpec(corev1ac.PersistentVolumeClaimSpec().
			WithAccessModes(corev1.ReadWriteOnce).
			WithResources(corev1ac.VolumeResourceRequirements().
				WithRequests(corev1.ResourceList{"storage": resource.MustParse("1024Mi")})))))})
	live := asServed(t, in, &appsv1.StatefulSet{})
	claim := &live.Spec.VolumeClaimTemplates[0]
	claim.Spec.VolumeMode = new(corev1.PersistentVolumeFilesystem)
	claim.Status.Phase = corev1.ClaimPending

	compare := newComparer(clientgoscheme.Scheme)
	if drift, err := compare.drift(in, live); err != nil || drift != nil {
		t.Errorf("drift at %v, expected none (%v)", drift, err)
	}
	claim.Spec.Resources.Requests["storage"] = resource.MustParse("2Gi")
	if drift, err := compare.drift(in, live); err != nil || drift == nil {
		t.Errorf("no drift, expected one: the template asks for another size (%v)", err)
	}
}
