// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/podtemplate"
	"github.com/opcrew/opcrew/internal/workload"
)

// newServer declares the container of one of the pod's two servers. The agent checks the server's data directory before
// it starts the server: see internal/agents/redisserver.
func newServer(r desired.Spec, c *redisv1alpha1.RedisEnterpriseCluster, place redisv1alpha1.Place) *corev1ac.ContainerApplyConfiguration {
	port := desired.Port(place)
	out := corev1ac.Container().WithName(string(place)).
		WithImage(r.Image.Reference).
		WithImagePullPolicy(r.Image.Policy).
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError). // the pod's status then shows why a server failed
		WithCommand(agentBinary, "redis-server").
		WithArgs(
			"--place="+string(place),
			"--data="+dataMount,
			"--secrets="+secretsMount,
			"--config="+RunMount+"/"+string(place)+".conf",
			"--extra-config="+configMount+"/"+configKey,
			fmt.Sprintf("--port=%d", port),
			"--announce-ip=$(POD_IP)",
			"--announce-hostname=$(POD_NAME)."+desired.Domain(c),
			fmt.Sprintf("--memory-limit=%d", desired.MemoryLimit(r.ServerResources))).
		WithEnv(fieldEnv("POD_IP", "status.podIP"), fieldEnv("POD_NAME", "metadata.name")).
		WithPorts(containerPort(portName(place), port), containerPort(portName(place)+"-bus", port+redisv1alpha1.BusOffset)).
		WithStartupProbe(ping(port).WithPeriodSeconds(2).WithFailureThreshold(30)).
		WithLivenessProbe(ping(port).WithPeriodSeconds(10).WithFailureThreshold(6)).
		WithLifecycle(corev1ac.Lifecycle().WithPreStop(handover(c, port))).
		WithResources(podtemplate.Convert[*corev1ac.ResourceRequirementsApplyConfiguration](r.ServerResources)).
		WithSecurityContext(workload.Restricted()).
		WithVolumeMounts(
			corev1ac.VolumeMount().WithName(desired.DataVolume).WithMountPath(dataMount),
			corev1ac.VolumeMount().WithName(runVolume).WithMountPath(RunMount),
			readOnly(agentVolume, agentMount), readOnly(secretsVolume, secretsMount), readOnly(configVolume, configMount))
	for _, env := range c.Spec.ExtraEnvVars {
		out.WithEnv(podtemplate.Convert[*corev1ac.EnvVarApplyConfiguration](env))
	}
	for _, mount := range c.Spec.RedisEnterpriseVolumeMounts {
		out.WithVolumeMounts(podtemplate.Convert[*corev1ac.VolumeMountApplyConfiguration](mount))
	}
	return out
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

// ping returns a probe that also succeeds while a server loads its data. Loading may take long, and the kubelet must
// not restart the server meanwhile.
func ping(port int32) *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().WithTimeoutSeconds(5).
		WithExec(corev1ac.ExecAction().WithCommand(agentBinary, "redis-ping", fmt.Sprintf("--port=%d", port)))
}

// handover returns a preStop hook that makes a replica the new primary before the kubelet stops the current primary,
// whatever the reason for the stop is.
func handover(c *redisv1alpha1.RedisEnterpriseCluster, port int32) *corev1ac.LifecycleHandlerApplyConfiguration {
	return corev1ac.LifecycleHandler().WithExec(corev1ac.ExecAction().
		WithCommand(agentBinary, "redis-handover", fmt.Sprintf("--port=%d", port), "--service="+desired.Domain(c), "--secrets="+secretsMount,
			// The handover may take two thirds of the grace period, so that a third is left for the server's own
			// shutdown.
			fmt.Sprintf("--timeout=%ds", max(1, desired.GracePeriod(c)*2/3))))
}

// newAgent declares the container of the agent, which serves the pod's readiness probe, metrics, and the status page.
func newAgent(r desired.Spec, c *redisv1alpha1.RedisEnterpriseCluster) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().WithName(desired.AgentContainer).
		WithImage(r.AgentImage).
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
			"--name="+desired.UIService(c)+"."+c.Namespace+".svc").
		WithPorts(containerPort("probes", probesPort), containerPort("metrics", redisv1alpha1.MetricsPort), containerPort("ui", redisv1alpha1.UIPort)).
		WithReadinessProbe(probe("/ready").WithPeriodSeconds(2).WithFailureThreshold(2)).
		WithLivenessProbe(probe("/live").WithPeriodSeconds(20).WithFailureThreshold(3)).
		WithResources(agentResources()).
		WithSecurityContext(workload.Restricted()).
		WithVolumeMounts(readOnly(secretsVolume, secretsMount), readOnly(certificateVolume, certificateMount))
}

func probe(path string) *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().WithTimeoutSeconds(3).
		WithHTTPGet(corev1ac.HTTPGetAction().WithPath(path).WithPort(intstr.FromInt32(probesPort)))
}

// newInstaller declares the init container that copies the agent's binary into the pod, because the images of Redis do
// not contain it.
func newInstaller(r desired.Spec) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().WithName("install-agent").
		WithImage(r.AgentImage).
		WithImagePullPolicy(corev1.PullIfNotPresent).
		WithArgs("install", "--to="+agentBinary).
		WithResources(agentResources()).
		WithSecurityContext(workload.Restricted()).
		WithVolumeMounts(corev1ac.VolumeMount().WithName(agentVolume).WithMountPath(agentMount))
}

// agentResources returns the resources of the agent's containers. Requests equal limits. If the servers' requests equal
// their limits too, the pod is among the last that the kubelet evicts when the node runs out of memory.
func agentResources() *corev1ac.ResourceRequirementsApplyConfiguration {
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
