// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

// Containers of a pod. The first two are named after their places.
const (
	homeContainer  = string(redisv1alpha1.Home)
	guestContainer = string(redisv1alpha1.Guest)
	agentContainer = "agent"
)

const (
	// dataVolume is the vendor's name of claims: theirs are <dataVolume>-<pod>.
	dataVolume, dataMount       = "redis-enterprise-storage", "/data"
	helperVolume, helperMount   = "opcrew", "/opcrew"
	secretsVolume, secretsMount = "opcrew-secrets", "/secrets"
	configVolume, configMount   = "opcrew-config", "/etc/opcrew"
	runVolume, runMount         = "opcrew-run", "/var/opcrew"
	helper                      = helperMount + "/opcrew-helper"

	certificateVolume, certificateMount = "opcrew-certificate", "/certificate"

	// probesPort is where the agent reports whether the pod has its role in the ring.
	probesPort = 8080
)

// server is one of the two of a pod. The helper looks at its folder before it starts it: see
// internal/agents/redisserver.
func (r reading) server(c *redisv1alpha1.RedisEnterpriseCluster, place redisv1alpha1.Place) *corev1ac.ContainerApplyConfiguration {
	port := portOf(place)
	out := corev1ac.Container().WithName(string(place)).
		WithImage(r.image.reference).
		WithImagePullPolicy(r.image.policy).
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError). // its last words say why it ends
		WithCommand(helper, "redis-server").
		WithArgs(
			"--place="+string(place),
			"--data="+dataMount,
			"--secrets="+secretsMount,
			"--config="+runMount+"/"+string(place)+".conf",
			"--extra-config="+configMount+"/"+configKey,
			fmt.Sprintf("--port=%d", port),
			"--announce-ip=$(POD_IP)",
			"--announce-hostname=$(POD_NAME)."+domain(c),
			fmt.Sprintf("--memory-limit=%d", memoryLimit(r.each))).
		WithEnv(fieldEnv("POD_IP", "status.podIP"), fieldEnv("POD_NAME", "metadata.name")).
		WithPorts(containerPort(portName(place), port), containerPort(portName(place)+"-bus", port+redisv1alpha1.BusOffset)).
		WithStartupProbe(ping(port).WithPeriodSeconds(2).WithFailureThreshold(30)).
		WithLivenessProbe(ping(port).WithPeriodSeconds(10).WithFailureThreshold(6)).
		WithLifecycle(corev1ac.Lifecycle().WithPreStop(handover(c, port))).
		WithResources(podtemplate.Convert[*corev1ac.ResourceRequirementsApplyConfiguration](r.each)).
		WithSecurityContext(workload.Locked()).
		WithVolumeMounts(
			corev1ac.VolumeMount().WithName(dataVolume).WithMountPath(dataMount),
			corev1ac.VolumeMount().WithName(runVolume).WithMountPath(runMount),
			readOnly(helperVolume, helperMount), readOnly(secretsVolume, secretsMount), readOnly(configVolume, configMount))
	for _, env := range c.Spec.ExtraEnvVars {
		out.WithEnv(podtemplate.Convert[*corev1ac.EnvVarApplyConfiguration](env))
	}
	for _, mount := range c.Spec.RedisEnterpriseVolumeMounts {
		out.WithVolumeMounts(podtemplate.Convert[*corev1ac.VolumeMountApplyConfiguration](mount))
	}
	return out
}

func portOf(place redisv1alpha1.Place) int32 {
	if place == redisv1alpha1.Guest {
		return redisv1alpha1.GuestPort
	}
	return redisv1alpha1.HomePort
}

func portName(place redisv1alpha1.Place) string {
	if place == redisv1alpha1.Guest {
		return string(place)
	}
	return "redis"
}

func containerPort(name string, number int32) *corev1ac.ContainerPortApplyConfiguration {
	return corev1ac.ContainerPort().WithName(name).WithContainerPort(number).WithProtocol(corev1.ProtocolTCP)
}

// ping succeeds also while a server loads its data: that takes as long as it takes.
func ping(port int32) *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().WithTimeoutSeconds(5).
		WithExec(corev1ac.ExecAction().WithCommand(helper, "redis-ping", fmt.Sprintf("--port=%d", port)))
}

// handover gives the slots of a server to its replica before the kubelet stops it, anyone who deletes the pod.
func handover(c *redisv1alpha1.RedisEnterpriseCluster, port int32) *corev1ac.LifecycleHandlerApplyConfiguration {
	return corev1ac.LifecycleHandler().WithExec(corev1ac.ExecAction().
		WithCommand(helper, "redis-handover", fmt.Sprintf("--port=%d", port), "--service="+domain(c), "--secrets="+secretsMount,
			fmt.Sprintf("--timeout=%ds", max(1, gracePeriod(c)*2/3)))) // the server itself takes the rest
}

// agent reports whether the pod has its role in the ring, and what its servers are doing.
func (r reading) agent(c *redisv1alpha1.RedisEnterpriseCluster) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().WithName(agentContainer).
		WithImage(r.helper).
		WithImagePullPolicy(corev1.PullIfNotPresent).
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError).
		WithArgs(
			"redis-agent",
			"--cluster="+c.Name,
			"--secrets="+secretsMount,
			fmt.Sprintf("--home-port=%d", redisv1alpha1.HomePort),
			fmt.Sprintf("--guest-port=%d", redisv1alpha1.GuestPort),
			fmt.Sprintf("--probes-port=%d", probesPort),
			fmt.Sprintf("--metrics-port=%d", redisv1alpha1.MetricsPort),
			fmt.Sprintf("--page-port=%d", redisv1alpha1.UIPort),
			"--certificate="+certificateMount,
			"--name="+uiService(c)+"."+c.Namespace+".svc").
		WithPorts(containerPort("probes", probesPort), containerPort("metrics", redisv1alpha1.MetricsPort), containerPort("ui", redisv1alpha1.UIPort)).
		WithReadinessProbe(probe("/ready").WithPeriodSeconds(2).WithFailureThreshold(2)).
		WithLivenessProbe(probe("/live").WithPeriodSeconds(20).WithFailureThreshold(3)).
		WithResources(small()).
		WithSecurityContext(workload.Locked()).
		WithVolumeMounts(readOnly(secretsVolume, secretsMount), readOnly(certificateVolume, certificateMount))
}

func probe(path string) *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().WithTimeoutSeconds(3).
		WithHTTPGet(corev1ac.HTTPGetAction().WithPath(path).WithPort(intstr.FromInt32(probesPort)))
}

// installer puts the helper into the pod: images of servers do not have it.
func (r reading) installer() *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().WithName("install-helper").
		WithImage(r.helper).
		WithImagePullPolicy(corev1.PullIfNotPresent).
		WithArgs("install", "--to="+helper).
		WithResources(small()).
		WithSecurityContext(workload.Locked()).
		WithVolumeMounts(corev1ac.VolumeMount().WithName(helperVolume).WithMountPath(helperMount))
}

// small are the resources of what is not a server. Requests are limits, so that a pod whose servers have
// it so is among the last that a node without memory ends.
func small() *corev1ac.ResourceRequirementsApplyConfiguration {
	all := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("64Mi")}
	return corev1ac.ResourceRequirements().WithRequests(all).WithLimits(all)
}

func fieldEnv(name, path string) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName(name).WithValueFrom(corev1ac.EnvVarSource().
		WithFieldRef(corev1ac.ObjectFieldSelector().WithFieldPath(path)))
}

func readOnly(volume, path string) *corev1ac.VolumeMountApplyConfiguration {
	return corev1ac.VolumeMount().WithName(volume).WithMountPath(path).WithReadOnly(true)
}
