// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
)

func TestADeploymentTakesNoPodAwayBeforeItsSuccessorIsReady(t *testing.T) {
	same(t, "the Deployment",
		`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"shop","labels":{"component":"application","instance":"web"}},`+
			`"spec":{"replicas":3,"selector":{"matchLabels":{"instance":"web"}},"template":{"metadata":{"labels":{"component":"application","instance":"web"}},`+
			`"spec":{"containers":[{"name":"web"}],"terminationGracePeriodSeconds":35,"serviceAccountName":"default","automountServiceAccountToken":false,`+
			`"securityContext":{"seccompProfile":{"type":"RuntimeDefault"}},"enableServiceLinks":false,`+
			`"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"kubernetes.io/hostname","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"instance":"web"}}}]}},`+
			`"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":0,"maxSurge":"25%"}}}}`,
		declared(t, web.Deployment(3, web.Template(bare("web")))))
}

func TestNoPodsAreDeclaredAsZeroAndNotLeftOut(t *testing.T) {
	if got := web.Deployment(0, web.Template(bare("web"))).Spec.Replicas; got == nil || *got != 0 {
		t.Error("expected replicas of 0 to be declared: without the field the API server makes one pod")
	}
}

func TestADisruptionBudgetLetsADrainTakeOnePodAtATime(t *testing.T) {
	same(t, "the PodDisruptionBudget",
		`{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{"name":"web","namespace":"shop","labels":{"component":"application","instance":"web"}},`+
			`"spec":{"selector":{"matchLabels":{"instance":"web"}},"maxUnavailable":1}}`,
		declared(t, web.DisruptionBudget()))
}

func TestAServiceSelectsByWhatNeverChanges(t *testing.T) {
	same(t, "the Service",
		`{"kind":"Service","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","labels":{"component":"application","instance":"web"}},`+
			`"spec":{"ports":[{"name":"tcp-80","protocol":"TCP","port":80,"targetPort":80}],"selector":{"instance":"web"},"type":"ClusterIP"}}`,
		declared(t, web.Service(ports(t, `[{"port":80}]`))))
}

func TestAContainerMayDoWhatOrdinaryImagesDoAtTheirStart(t *testing.T) {
	same(t, "the container",
		`{"name":"web","image":"nginx:1.26","lifecycle":{"preStop":{"sleep":{"seconds":5}}},`+
			`"securityContext":{"capabilities":{"add":["CHOWN","DAC_OVERRIDE","FOWNER","KILL","NET_BIND_SERVICE","SETGID","SETUID"],"drop":["ALL"]},"allowPrivilegeEscalation":false}}`,
		declared(t, Container("web", "nginx:1.26", nil)))
}

func TestResourcesAreDeclaredAsAskedForAndNotAtAllOtherwise(t *testing.T) {
	for text, test := range map[string]struct {
		resources common.Resources
		want      string
	}{
		"none":     {common.Resources{}, `null`},
		"empty":    {common.Resources{Limits: map[corev1.ResourceName]common.Amount{}}, `null`},
		"limits":   {common.Resources{Limits: map[corev1.ResourceName]common.Amount{"cpu": "1"}}, `{"limits":{"cpu":"1"}}`},
		"requests": {common.Resources{Requests: map[corev1.ResourceName]common.Amount{"cpu": "0.25"}}, `{"requests":{"cpu":"250m"}}`},
	} {
		c := bare("web")
		WithResources(c, test.resources)
		same(t, text, test.want, declared(t, c.Resources))
	}
}

func TestTheEnvironmentIsDeclaredWithAllItsSources(t *testing.T) {
	envs := []corev1.EnvVar{
		{Name: "A", Value: "1"},
		{Name: "B", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "k", LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}}},
		{Name: "C", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
		{Name: "EMPTY"},
	}
	c := bare("web")
	WithEnvs(c, envs)
	same(t, "the environment",
		`[{"name":"A","value":"1"},{"name":"B","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}},{"name":"C","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},{"name":"EMPTY"}]`,
		declared(t, c.Env))
}
