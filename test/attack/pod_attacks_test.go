// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// app returns the manifest of an AppService with additional fields in its spec.
func app(fields string) string {
	return `
apiVersion: app.example.com/v1
kind: AppService
metadata: {name: web}
spec: {image: "nginx:1.26", ports: [{port: 80}], ` + fields + `}
`
}

// micro returns the manifest of a MicroServiceDeploy with additional fields in its spec.
func micro(fields string) string {
	return `
apiVersion: custom.ops/v1
kind: MicroServiceDeploy
metadata: {name: shop}
spec: {msName: shop, image: "nginx:1.26", ` + fields + `}
`
}

// cacheWith returns the manifest of a Memcached with additional fields in its spec.
func cacheWith(fields string) string {
	return `
apiVersion: cache.example.com/v1alpha1
kind: Memcached
metadata: {name: items}
spec: {size: 1, ` + fields + `}
`
}

// etcdWith returns the manifest of an EtcdCluster with one member and additional fields in its spec.
func etcdWith(fields string) string {
	return `
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdCluster
metadata: {name: store}
spec: {size: 1, version: 3.6.16, ` + fields + `}
`
}

// system returns the manifest of a Diva with additional fields in spec.client and in the spec.
func system(client, fields string) string {
	return `
apiVersion: ops.xx.com/v1
kind: Diva
metadata: {name: ops}
spec:
  client: {replicas: 2, image: "client:1", storage: {size: 1Gi, className: standard}, ` + client + `}
  manager: {image: "diva:1", storage: {size: 1Gi, className: standard}}
  extra: {image: "extra:1", storage: {size: 1Gi, className: standard}, mountPath: /extra}
  ` + fields + `
`
}

// redisPod returns the manifest of a Redis cluster with additional fields in its spec.
func redisPod(fields string) string {
	return `
apiVersion: app.redislabs.com/v1alpha1
kind: RedisEnterpriseCluster
metadata: {name: cache}
spec: {nodes: 1, ` + fields + `}
`
}

// podAttacks returns attacks that try to get rights on a node through a pod.
func podAttacks() []attack {
	hostPath := aPodHas("a directory of the node", volumes(func(v corev1.Volume) bool { return v.HostPath != nil }))
	probed := aContainerHas("a probe of another host", func(c corev1.Container) bool {
		return slices.ContainsFunc([]*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe}, func(p *corev1.Probe) bool {
			return p != nil && p.HTTPGet != nil && p.HTTPGet.Host != ""
		})
	})
	return []attack{
		{name: "hostPath in a Redis cluster", source: "review 1, OWASP K01, CVE-2021-25741", item: 1, needs: podSecurity,
			manifest: redisPod(`volumes: [{name: node, hostPath: {path: /}}], redisEnterpriseVolumeMounts: [{name: node, mountPath: /node}]`),
			refused:  []string{"volumes", "restricted Pod Security Standard"}, stops: violates("hostPath"), harm: hostPath},
		{name: "a volume of an NFS server", source: "OWASP K01", needs: podSecurity,
			manifest: redisPod(`volumes: [{name: far, nfs: {server: 10.0.0.1, path: /}}]`),
			refused:  []string{"volumes"}, stops: violates("nfs"),
			harm: aPodHas("a volume of an NFS server", volumes(func(v corev1.Volume) bool { return v.NFS != nil }))},
		{name: "kernel parameters of the node", source: "CVE-2022-0811", needs: podSecurity,
			manifest: etcdWith(`pod: {securityContext: {sysctls: [{name: kernel.core_pattern, value: "|/tmp/x"}]}}`),
			refused:  []string{"sysctls"}, stops: violates("sysctl"),
			harm: aPodHas("kernel parameters", func(spec corev1.PodSpec) bool {
				return is(spec.SecurityContext, func(s corev1.PodSecurityContext) bool { return len(s.Sysctls) > 0 })
			}), control: func(w *world) { w.has(podWith(`sysctls: [{name: kernel.core_pattern, value: "|/tmp/x"}]`)) }},
		{name: "etcd as root", source: "OWASP K01", needs: podSecurity,
			manifest: etcdWith(`pod: {securityContext: {runAsUser: 0, runAsNonRoot: false}}`),
			refused:  []string{"runAs"}, stops: violates("runAs"),
			harm: aPodHas("root", func(spec corev1.PodSpec) bool {
				return is(spec.SecurityContext, func(s corev1.PodSecurityContext) bool { return is(s.RunAsUser, func(u int64) bool { return u == 0 }) })
			}), control: func(w *world) { w.has(podWith(`runAsUser: 0`)) }},
		{name: "one field that drops all defaults", source: "review 8", item: 8, needs: podSecurity, pods: true,
			manifest: etcdWith(`pod: {securityContext: {fsGroup: 1000}}`),
			harm: aPodHas("no seccomp profile", func(spec corev1.PodSpec) bool {
				return is(spec.SecurityContext, func(s corev1.PodSecurityContext) bool { return s.SeccompProfile == nil })
			}),
			control: func(w *world) {
				w.has(`{apiVersion: v1, kind: Pod, metadata: {name: bare}, spec: {securityContext: {fsGroup: 1}, containers: [{name: a, image: a}]}}`)
			}},
		{name: "a probe of another host in a microservice", source: "review 9, CVE-2020-8555", item: 9, needs: podSecurity,
			manifest: micro(`probes: {liveness: {httpGet: {host: 169.254.169.254, port: 80, path: /latest/meta-data}}}`),
			refused:  []string{"host"}, stops: violates("host"), harm: probed},
		{name: "a probe of another host in a Diva", source: "review 9, CVE-2020-8555", item: 9, needs: podSecurity,
			manifest: system(`probes: {readiness: {httpGet: {host: 169.254.169.254, port: 80}}}`, ""),
			refused:  []string{"host"}, stops: violates("host"), harm: probed},
		{name: "namespaces of the node", source: "OWASP K01, CVE-2020-15257", needs: schema, pods: true,
			manifest: app(`pod: {hostNetwork: true, hostPID: true, hostIPC: true, nodeName: control-plane}`),
			harm:     aPodHas("a namespace of the node", func(s corev1.PodSpec) bool { return s.HostNetwork || s.HostPID || s.HostIPC || s.NodeName != "" }),
			control: func(w *world) {
				w.has(`{apiVersion: v1, kind: Pod, metadata: {name: bare}, spec: {hostNetwork: true, containers: [{name: a, image: a}]}}`)
			}},
	}
}

// podWith returns the manifest of a pod with a security context. The administrator creates it, because some kinds
// create no such pod even without guards: they check the spec first.
func podWith(context string) string {
	return `{apiVersion: v1, kind: Pod, metadata: {name: bare}, spec: {securityContext: {` + context + `}, containers: [{name: a, image: a}]}}`
}
