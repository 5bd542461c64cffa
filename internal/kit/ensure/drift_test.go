// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type declaring = func(*appsv1ac.DeploymentApplyConfiguration, *corev1ac.ContainerApplyConfiguration)

// driftOf declares the Deployment web with one change. It changes the live object, and returns the paths that differ.
func driftOf(t *testing.T, declare declaring, live func(*appsv1.Deployment)) string {
	t.Helper()
	if declare == nil {
		declare = func(*appsv1ac.DeploymentApplyConfiguration, *corev1ac.ContainerApplyConfiguration) {}
	}
	in := mustDeclare(t, shop(), web(declare))
	found := asServed(t, in, &appsv1.Deployment{})
	defaults(found)
	live(found)
	drift, err := newComparer(clientgoscheme.Scheme).drift(in, found)
	if err != nil {
		t.Fatalf("comparing: %v", err)
	}
	if drift == nil {
		return ""
	}
	return drift.String()
}

func main(d *appsv1.Deployment) *corev1.Container { return &d.Spec.Template.Spec.Containers[0] }

func TestAChangeOfADeclaredFieldIsDriftThatNamesIt(t *testing.T) {
	zeroReplicas := func(d *appsv1ac.DeploymentApplyConfiguration, _ *corev1ac.ContainerApplyConfiguration) {
		d.Spec.WithReplicas(0)
	}
	hostNetworkOff := func(d *appsv1ac.DeploymentApplyConfiguration, _ *corev1ac.ContainerApplyConfiguration) {
		d.Spec.Template.Spec.WithHostNetwork(false)
	}
	mountServiceAccountOff := func(d *appsv1ac.DeploymentApplyConfiguration, _ *corev1ac.ContainerApplyConfiguration) {
		d.Spec.Template.Spec.WithAutomountServiceAccountToken(false)
	}
	oneCPU := func(_ *appsv1ac.DeploymentApplyConfiguration, c *corev1ac.ContainerApplyConfiguration) {
		c.WithResources(corev1ac.ResourceRequirements().WithLimits(corev1.ResourceList{"cpu": resource.MustParse("1000m")}))
	}
	emptyValue := func(_ *appsv1ac.DeploymentApplyConfiguration, c *corev1ac.ContainerApplyConfiguration) {
		c.WithEnv(corev1ac.EnvVar().WithName("EMPTY").WithValue(""))
	}
	for name, test := range map[string]struct {
		declare declaring
		live    func(*appsv1.Deployment)
		path    string
	}{
		"another image":                           {nil, func(d *appsv1.Deployment) { main(d).Image = "web:2" }, "image"},
		"an image that was taken away":            {nil, func(d *appsv1.Deployment) { main(d).Image = "" }, "image"},
		"another value of a variable":             {nil, func(d *appsv1.Deployment) { main(d).Env[0].Value = "slow" }, `env[name="MODE"].value`},
		"a variable that was taken away":          {nil, func(d *appsv1.Deployment) { main(d).Env = nil }, `env[name="MODE"]`},
		"a port that was taken away":              {nil, func(d *appsv1.Deployment) { main(d).Ports = nil }, "ports"},
		"a port of another number":                {nil, func(d *appsv1.Deployment) { main(d).Ports[0].ContainerPort = 9090 }, "ports"},
		"a container that was taken away":         {nil, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers = nil }, `containers[name="main"]`},
		"another label of the object":             {nil, func(d *appsv1.Deployment) { d.Labels["app.kubernetes.io/managed-by"] = "helm" }, "managed-by"},
		"a label of the pods that was taken away": {nil, func(d *appsv1.Deployment) { d.Spec.Template.Labels = nil }, "template.metadata.labels"},
		"another hash":                            {nil, func(d *appsv1.Deployment) { d.Annotations["opcrew.io/applied"] = "1" }, "opcrew.io/applied"},
		"no owner":                                {nil, func(d *appsv1.Deployment) { d.OwnerReferences = nil }, "ownerReferences"},
		"an owner that does not control it":       {nil, func(d *appsv1.Deployment) { d.OwnerReferences[0].Controller = new(false) }, "ownerReferences"},
		"more of a quantity":                      {oneCPU, func(d *appsv1.Deployment) { main(d).Resources.Limits["cpu"] = resource.MustParse("2") }, "limits.cpu"},
		"a declared 0 that is not 0":              {zeroReplicas, func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(3)) }, "replicas"},
		"a declared 0 that was taken away":        {zeroReplicas, func(d *appsv1.Deployment) { d.Spec.Replicas = nil }, "replicas"},
		"a declared false that is true":           {hostNetworkOff, func(d *appsv1.Deployment) { d.Spec.Template.Spec.HostNetwork = true }, "hostNetwork"},
		"a declared false that was taken away": {mountServiceAccountOff, func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.AutomountServiceAccountToken = nil
		}, "automountServiceAccountToken"},
		"a declared empty text that is not empty": {emptyValue, func(d *appsv1.Deployment) { main(d).Env[1].Value = "x" }, `env[name="EMPTY"].value`},
	} {
		t.Run(name, func(t *testing.T) {
			if drift := driftOf(t, test.declare, test.live); !strings.Contains(drift, test.path) {
				t.Errorf("drift at %q, expected it to name %s", drift, test.path)
			}
		})
	}
}

func TestWhatIsNotDeclaredIsNoDrift(t *testing.T) {
	for name, live := range map[string]func(*appsv1.Deployment){
		"nothing but the server's defaults": func(*appsv1.Deployment) {},
		"a label of another manager":        func(d *appsv1.Deployment) { d.Labels["team"] = "shop" },
		"an annotation of another manager":  func(d *appsv1.Deployment) { d.Annotations["deployment.kubernetes.io/revision"] = "4" },
		"a finalizer of another manager":    func(d *appsv1.Deployment) { d.Finalizers = []string{"example.com/hold"} },
		"one more owner": func(d *appsv1.Deployment) {
			d.OwnerReferences = append(d.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: "s", UID: "u"})
		},
		"one more container": func(d *appsv1.Deployment) {
			sidecar := corev1.Container{Name: "sidecar", Image: "mesh:1"}
			d.Spec.Template.Spec.Containers = append([]corev1.Container{sidecar}, d.Spec.Template.Spec.Containers...)
		},
		"one more port": func(d *appsv1.Deployment) {
			main(d).Ports = append([]corev1.ContainerPort{{ContainerPort: 9090, Protocol: "TCP"}}, main(d).Ports...)
		},
		"the same port by another protocol": func(d *appsv1.Deployment) {
			main(d).Ports = append(main(d).Ports, corev1.ContainerPort{ContainerPort: 8080, Protocol: "UDP"})
		},
		"one more variable": func(d *appsv1.Deployment) {
			main(d).Env = append([]corev1.EnvVar{{Name: "INJECTED", Value: "1"}}, main(d).Env...)
		},
		"a field that is not declared": func(d *appsv1.Deployment) { d.Spec.Paused = true },
		"an annotation of the pods":    func(d *appsv1.Deployment) { d.Spec.Template.Annotations = map[string]string{"restartedAt": "now"} },
		"the status":                   func(d *appsv1.Deployment) { d.Status.Replicas = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			if drift := driftOf(t, nil, live); drift != "" {
				t.Errorf("drift at %q, expected none", drift)
			}
		})
	}
}

func TestAnotherSpellingOfAValueIsNoDrift(t *testing.T) {
	for name, declare := range map[string]declaring{
		"quantities": func(_ *appsv1ac.DeploymentApplyConfiguration, c *corev1ac.ContainerApplyConfiguration) {
			c.WithResources(corev1ac.ResourceRequirements().
				WithLimits(corev1.ResourceList{"cpu": resource.MustParse("1000m"), "memory": resource.MustParse("1024Mi")}))
		},
		"an empty value of a variable": func(_ *appsv1ac.DeploymentApplyConfiguration, c *corev1ac.ContainerApplyConfiguration) {
			c.WithEnv(corev1ac.EnvVar().WithName("EMPTY").WithValue(""))
		},
		"false where it is the zero value": func(d *appsv1ac.DeploymentApplyConfiguration, _ *corev1ac.ContainerApplyConfiguration) {
			d.Spec.Template.Spec.WithHostNetwork(false)
		},
		"an empty directory": func(d *appsv1ac.DeploymentApplyConfiguration, _ *corev1ac.ContainerApplyConfiguration) {
			d.Spec.Template.Spec.WithVolumes(corev1ac.Volume().WithName("tmp").WithEmptyDir(corev1ac.EmptyDirVolumeSource()))
		},
		"a variable declared twice": func(_ *appsv1ac.DeploymentApplyConfiguration, c *corev1ac.ContainerApplyConfiguration) {
			c.WithEnv(corev1ac.EnvVar().WithName("MODE").WithValue("fast"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			written := func(d *appsv1.Deployment) {
				if limits := main(d).Resources.Limits; limits != nil {
					limits["cpu"], limits["memory"] = resource.MustParse("1"), resource.MustParse("1Gi")
				}
			}
			if drift := driftOf(t, declare, written); drift != "" {
				t.Errorf("drift at %q, expected none", drift)
			}
		})
	}
}

func TestAKeyThatAnotherManagerAddsToAWholeMapIsDrift(t *testing.T) {
	declared := map[string]any{"apiVersion": "example.com/v1", "kind": "Fleet", "metadata": map[string]any{"name": "f"},
		"spec": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"a": "b"}}, "none": map[string]any{}}}
	child := Child{Object: client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: declared}), Whole: []string{"spec.selector", "spec.none"}}
	for name, test := range map[string]struct {
		change func(spec map[string]any)
		want   string
	}{
		"nothing":           {func(map[string]any) {}, ""},
		"a field beside it": {func(spec map[string]any) { spec["paused"] = true }, ""},
		"a key deep in it": {func(spec map[string]any) {
			spec["selector"].(map[string]any)["matchLabels"].(map[string]any)["c"] = "d"
		}, "selector"},
		"another field of it":   {func(spec map[string]any) { spec["selector"].(map[string]any)["matchExpressions"] = []any{} }, "selector"},
		"a key in an empty one": {func(spec map[string]any) { spec["none"].(map[string]any)["c"] = "d" }, "none"},
	} {
		in := mustDeclare(t, shop(), child)
		live := &unstructured.Unstructured{Object: in.object.DeepCopy().Object}
		test.change(live.Object["spec"].(map[string]any))
		drift, err := newComparer(clientgoscheme.Scheme).drift(in, live)
		if err != nil {
			t.Fatal(err)
		}
		if (drift == nil) != (test.want == "") || drift != nil && !strings.Contains(drift.String(), test.want) {
			t.Errorf("%s: expected drift of %q, got %v", name, test.want, drift)
		}
	}
}
