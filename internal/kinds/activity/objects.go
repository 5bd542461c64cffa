// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

const (
	orderDir   = "/etc/opcrew/order"
	orderFile  = "order.json"
	secretsDir = "/etc/opcrew/secrets"
	// farewell is what the runner has beyond the grace of the command to tell of its end.
	farewell = 15
	// clockSlack is how far a host's clock may be from the API server's.
	clockSlack = time.Minute
)

// pod declares what runs the command. It is root on the host: in the host's namespaces, with
// all rights, and with no account of the cluster.
func pod(a *egov1.Activity, f facts) *corev1ac.PodApplyConfiguration {
	spec := corev1ac.PodSpec().
		WithRestartPolicy(corev1.RestartPolicyNever).
		WithHostPID(true).WithHostNetwork(true). // no network of the cluster's is needed to mend one
		WithDNSPolicy(corev1.DNSDefault).
		WithAutomountServiceAccountToken(false).WithEnableServiceLinks(false).
		WithTerminationGracePeriodSeconds(grace(a) + farewell).
		WithContainers(runner(a, f.helperImage)).
		WithVolumes(order())
	if len(a.Spec.SecretEnvs) > 0 {
		spec.WithVolumes(corev1ac.Volume().WithName("secrets").
			WithSecret(corev1ac.SecretVolumeSource().WithSecretName(podName(a, run(a))).WithDefaultMode(0o400)))
	}
	place(spec, a)
	annotations := map[string]string{activityAnnotation: a.Namespace + "/" + a.Name, orderAnnotation: f.begin.order}
	if f.begin.boot != "" {
		annotations[bootAnnotation] = f.begin.boot
	}
	return corev1ac.Pod(podName(a, run(a)), Namespace).
		WithLabels(map[string]string{"app.kubernetes.io/name": "activity", runLabel: strconv.FormatInt(run(a), 10)}).
		WithAnnotations(annotations).
		WithFinalizers(resultFinalizer).
		WithSpec(spec)
}

func runner(a *egov1.Activity, image string) *corev1ac.ContainerApplyConfiguration {
	c := corev1ac.Container().
		WithName(container).WithImage(image).WithImagePullPolicy(corev1.PullIfNotPresent).
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

// order is what to do, in a file: nothing of it is text of a shell, or expanded on its way.
func order() *corev1ac.VolumeApplyConfiguration {
	return corev1ac.Volume().WithName("order").WithDownwardAPI(corev1ac.DownwardAPIVolumeSource().
		WithDefaultMode(0o400).
		WithItems(corev1ac.DownwardAPIVolumeFile().WithPath(orderFile).
			WithFieldRef(corev1ac.ObjectFieldSelector().WithFieldPath("metadata.annotations['" + orderAnnotation + "']"))))
}

// orderOf tells the runner what to do; an error is about what the user wrote.
func orderOf(a *egov1.Activity, forgetBefore time.Time, boot string) (string, error) {
	o := hostjob.NewOrder(string(a.UID), run(a), a.CreationTimestamp.Time)
	o.Command, o.User, o.Dir = a.Spec.Command, user(a), directory(a)
	o.TimeoutSeconds, o.GraceSeconds = int(ptr.Deref(a.Spec.TimeoutSeconds, 0)), int(grace(a))
	o.ForgetBefore = forgetBefore
	o.BeginBefore, o.BootID = startDeadline(a).Add(clockSlack), boot
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

// place puts the pod on its host: by the scheduler, with its rules and its words, or past it.
func place(spec *corev1ac.PodSpecApplyConfiguration, a *egov1.Activity) {
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
	// A host that does not answer for a while may still run it: no one ends it but us.
	for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		spec.WithTolerations(corev1ac.Toleration().WithKey(taint).WithOperator(corev1.TolerationOpExists).WithEffect(corev1.TaintEffectNoExecute))
	}
}

// values declares those of secretEnvs where the pod can have them.
func values(a *egov1.Activity, values map[string][]byte) *corev1ac.SecretApplyConfiguration {
	return corev1ac.Secret(podName(a, run(a)), Namespace).
		WithLabels(map[string]string{"app.kubernetes.io/name": "activity"}).
		WithAnnotations(map[string]string{activityAnnotation: a.Namespace + "/" + a.Name}).
		WithData(values)
}
