// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package runpod

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

const (
	orderDir   = "/etc/opcrew/order"
	orderFile  = "order.json"
	secretsDir = "/etc/opcrew/secrets"
	// farewell is how many seconds the agent in the pod gets to report the result, in addition to the grace period of
	// the command.
	farewell = 15
	// clockSlack is the largest expected difference between the clocks of a host and of the API server.
	clockSlack = time.Minute
)

// Pod declares the pod that runs the command. The pod is root on the host: it enters the namespaces of the host and has
// all capabilities. It has no ServiceAccount token.
func Pod(a *egov1.Activity, start *run.Start, image string) *corev1ac.PodApplyConfiguration {
	spec := corev1ac.PodSpec().
		WithRestartPolicy(corev1.RestartPolicyNever).
		WithHostPID(true).WithHostNetwork(true). // a command can then repair a host whose cluster network is broken
		WithDNSPolicy(corev1.DNSDefault).
		WithAutomountServiceAccountToken(false).WithEnableServiceLinks(false).
		WithTerminationGracePeriodSeconds(run.Grace(a) + farewell).
		WithContainers(runner(a, image)).
		WithVolumes(order())
	if len(a.Spec.SecretEnvs) > 0 {
		spec.WithVolumes(corev1ac.Volume().WithName("secrets").
			WithSecret(corev1ac.SecretVolumeSource().WithSecretName(run.PodName(a, run.Number(a))).WithDefaultMode(0o400)))
	}
	place(spec, a, start.Drained)
	return described(a, start, spec)
}

// described declares a pod with the order for its agent.
func described(a *egov1.Activity, start *run.Start, spec *corev1ac.PodSpecApplyConfiguration) *corev1ac.PodApplyConfiguration {
	annotations := map[string]string{run.ActivityAnnotation: a.Namespace + "/" + a.Name, run.OrderAnnotation: start.Order}
	if start.Boot != "" {
		annotations[run.BootAnnotation] = start.Boot
	}
	return corev1ac.Pod(run.PodName(a, run.Number(a)), run.Namespace).
		WithLabels(map[string]string{"app.kubernetes.io/name": "activity", run.RunLabel: strconv.FormatInt(run.Number(a), 10)}).
		WithAnnotations(annotations).
		WithFinalizers(run.ResultFinalizer).
		WithSpec(spec)
}

func runner(a *egov1.Activity, image string) *corev1ac.ContainerApplyConfiguration {
	c := corev1ac.Container().
		WithName(run.Container).WithImage(image).WithImagePullPolicy(corev1.PullIfNotPresent).
		WithArgs("run-on-host", "--order", orderDir+"/"+orderFile, "--secrets", secretsDir).
		WithSecurityContext(corev1ac.SecurityContext().WithPrivileged(true).WithRunAsUser(0)).
		WithTerminationMessagePath(corev1.TerminationMessagePathDefault).
		WithTerminationMessagePolicy(corev1.TerminationMessageReadFile).
		WithVolumeMounts(corev1ac.VolumeMount().WithName("order").WithMountPath(orderDir).WithReadOnly(true))
	if len(a.Spec.SecretEnvs) > 0 {
		c.WithVolumeMounts(corev1ac.VolumeMount().WithName("secrets").WithMountPath(secretsDir).WithReadOnly(true))
	}
	return c
}

// order declares the volume with the order (the command and its parameters) as a file. This way, no shell or variable
// expansion changes any part of the command.
func order() *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName("order").WithDownwardAPI(corev1ac.DownwardAPIVolumeSource().
		WithDefaultMode(0o400).
		WithItems(corev1ac.DownwardAPIVolumeFile().WithPath(orderFile).
			WithFieldRef(corev1ac.ObjectFieldSelector().WithFieldPath("metadata.annotations['" + run.OrderAnnotation + "']"))))
}

// Order returns the order for the agent in the pod: the command and its parameters. An error means that the spec is
// invalid.
func Order(a *egov1.Activity, forgetBefore time.Time, boot string) (string, error) {
	o := hostjob.NewOrder(string(a.UID), run.Number(a), a.CreationTimestamp.Time)
	o.Command, o.User, o.Dir = a.Spec.Command, run.User(a), run.Directory(a)
	o.TimeoutSeconds, o.GraceSeconds = int(ptr.Deref(a.Spec.TimeoutSeconds, 0)), int(run.Grace(a))
	o.ForgetBefore = forgetBefore
	o.BeginBefore, o.BootID = run.StartDeadline(a).Add(clockSlack), boot
	if s := a.Spec.SSH; s != nil {
		o.SSH = &hostjob.SSH{Name: a.Spec.Host, Secret: s.Secret, Host: s.Address.Host(), Port: s.Address.Port(), ConnectBefore: run.StartDeadline(a)}
	}
	for _, arg := range a.Spec.Args {
		o.Args = append(o.Args, string(arg))
	}
	for _, env := range a.Spec.Envs {
		o.Envs = append(o.Envs, string(env))
	}
	for _, env := range a.Spec.SecretEnvs {
		if o.SecretEnvs == nil {
			o.SecretEnvs = map[string]string{}
		}
		o.SecretEnvs[env.Name] = env.Name
	}
	return hostjob.EncodeOrder(o)
}

// place assigns the pod to its host: through the scheduler, or directly (spec.nodeName) if spec.placement is Repair. A
// pod of the fleet that has drained the host tolerates the cordon.
func place(spec *corev1ac.PodSpecApplyConfiguration, a *egov1.Activity, drained bool) {
	if a.Spec.Placement == egov1.PlacementRepair {
		spec.WithNodeName(a.Spec.Host).
			WithPriorityClassName("system-node-critical").
			WithTolerations(corev1ac.Toleration().WithOperator(corev1.TolerationOpExists))
		return
	}
	onHost := corev1ac.NodeSelectorRequirement().WithKey("metadata.name").WithOperator(corev1.NodeSelectorOpIn).WithValues(a.Spec.Host)
	spec.WithAffinity(corev1ac.Affinity().WithNodeAffinity(corev1ac.NodeAffinity().
		WithRequiredDuringSchedulingIgnoredDuringExecution(corev1ac.NodeSelector().
			WithNodeSelectorTerms(corev1ac.NodeSelectorTerm().WithMatchFields(onHost)))))
	if drained {
		spec.WithTolerations(corev1ac.Toleration().WithKey(corev1.TaintNodeUnschedulable).WithOperator(corev1.TolerationOpExists).WithEffect(corev1.TaintEffectNoSchedule))
	}
	stay(spec)
}

// stay keeps Kubernetes from evicting a pod whose node does not respond, because the command may still be running. Only
// opcrew ends the pod.
func stay(spec *corev1ac.PodSpecApplyConfiguration) {
	for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		spec.WithTolerations(corev1ac.Toleration().WithKey(taint).WithOperator(corev1.TolerationOpExists).WithEffect(corev1.TaintEffectNoExecute))
	}
}

// Values declares the Secret with the values of spec.secretEnvs in the namespace of the pod.
func Values(a *egov1.Activity, values map[string][]byte) *corev1ac.SecretApplyConfiguration {
	return corev1ac.Secret(run.PodName(a, run.Number(a)), run.Namespace).
		WithLabels(map[string]string{"app.kubernetes.io/name": "activity"}).
		WithAnnotations(map[string]string{run.ActivityAnnotation: a.Namespace + "/" + a.Name}).
		WithData(values)
}
