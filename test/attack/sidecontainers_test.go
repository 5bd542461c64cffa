// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// redisWith returns the manifest of a Redis cluster with an additional container.
func redisWith(container string) string {
	return `
apiVersion: app.redislabs.com/v1alpha1
kind: RedisEnterpriseCluster
metadata: {name: cache}
spec:
  nodes: 1
  sideContainersSpec: [{name: side, image: "busybox:1.35", ` + container + `}]
`
}

// violates is the report that Ready contains if a pod violates its Pod Security Standard.
func violates(words ...string) *report { return &report{"PodSecurityViolation", words} }

// sideContainerAttacks returns attacks that try to get rights on a node through a side container whose spec the tenant
// writes.
func sideContainerAttacks() []attack {
	side := func(name, source, container string, harm func(w *world) string) attack {
		return attack{name: "side container: " + name, source: source, item: 1, needs: podSecurity, manifest: redisWith(container), refused: []string{"sideContainersSpec"}, stops: violates(), harm: harm}
	}
	context := func(context string) string { return "securityContext: {" + context + "}" }
	return []attack{
		// The API server refuses privileged: true together with allowPrivilegeEscalation: false, opcrew's default.
		side("privileged", "review 1, OWASP K01", context("privileged: true, allowPrivilegeEscalation: true"),

			aContainerIs("privileges", func(s corev1.SecurityContext) bool { return yes(s.Privileged) })),
		side("SYS_ADMIN", "OWASP K01, CVE-2022-0185", context("capabilities: {add: [SYS_ADMIN]}"),
			aContainerIs("SYS_ADMIN", func(s corev1.SecurityContext) bool {
				return is(s.Capabilities, func(c corev1.Capabilities) bool { return slices.Contains(c.Add, "SYS_ADMIN") })
			})),
		side("NET_RAW", "CVE-2020-10749", context("capabilities: {add: [NET_RAW]}"),
			aContainerIs("NET_RAW", func(s corev1.SecurityContext) bool {
				return is(s.Capabilities, func(c corev1.Capabilities) bool { return slices.Contains(c.Add, "NET_RAW") })
			})),
		side("privilege escalation", "OWASP K01", context("allowPrivilegeEscalation: true"),
			aContainerIs("privilege escalation", func(s corev1.SecurityContext) bool { return yes(s.AllowPrivilegeEscalation) })),
		side("seccomp off", "OWASP K01", context("seccompProfile: {type: Unconfined}"),
			aContainerIs("no seccomp profile", func(s corev1.SecurityContext) bool {
				return is(s.SeccompProfile, func(p corev1.SeccompProfile) bool { return p.Type == corev1.SeccompProfileTypeUnconfined })
			})),
		side("AppArmor off", "OWASP K01", context("appArmorProfile: {type: Unconfined}"),
			aContainerIs("no AppArmor profile", func(s corev1.SecurityContext) bool {
				return is(s.AppArmorProfile, func(p corev1.AppArmorProfile) bool { return p.Type == corev1.AppArmorProfileTypeUnconfined })
			})),
		side("SELinux type", "OWASP K01", context("seLinuxOptions: {type: spc_t}"),
			aContainerIs("an SELinux type of the host", func(s corev1.SecurityContext) bool {
				return is(s.SELinuxOptions, func(o corev1.SELinuxOptions) bool { return o.Type == "spc_t" })
			})),
		side("root", "OWASP K01, CVE-2019-5736", context("runAsUser: 0, runAsNonRoot: false"),
			aContainerIs("root", func(s corev1.SecurityContext) bool { return is(s.RunAsUser, func(u int64) bool { return u == 0 }) })),
		side("a port of the node", "OWASP K07", "ports: [{containerPort: 10250, hostPort: 10250}]",
			aContainerHas("a port of the node", func(c corev1.Container) bool {
				return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort != 0 })
			})),
		side("a probe of another host", "review 9, CVE-2020-8555", "livenessProbe: {httpGet: {host: 169.254.169.254, port: 80}}",
			aContainerHas("a probe of another host", func(c corev1.Container) bool {
				return is(c.LivenessProbe, func(p corev1.Probe) bool { return p.HTTPGet != nil && p.HTTPGet.Host != "" })
			})),
		side("a hook to another host", "CVE-2020-8555", "lifecycle: {postStart: {httpGet: {host: 169.254.169.254, port: 80}}}",
			aContainerHas("a hook to another host", func(c corev1.Container) bool {
				return is(c.Lifecycle, func(l corev1.Lifecycle) bool { return l.PostStart != nil && l.PostStart.HTTPGet != nil })
			})),
	}
}
