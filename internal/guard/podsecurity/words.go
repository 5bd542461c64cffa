// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package podsecurity

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/policy"
)

// instead returns, for each check, what the user can write instead of the value that the check forbids.
func instead() map[policy.CheckID]string {
	return map[policy.CheckID]string{
		"allowPrivilegeEscalation":   "leave allowPrivilegeEscalation out, or write false",
		"appArmorProfile":            "leave the AppArmor profile out, or write RuntimeDefault",
		"capabilities_baseline":      "leave these capabilities out of capabilities.add",
		"capabilities_restricted":    "leave capabilities out; at most NET_BIND_SERVICE can be added",
		"hostNamespaces":             "leave hostNetwork, hostPID and hostIPC out",
		"hostPathVolumes":            "use a persistentVolumeClaim instead of hostPath",
		"hostPorts":                  "leave hostPort out; a Service of type NodePort makes a port reachable on nodes",
		"hostProbesAndHostLifecycle": "leave host out: the kubelet then probes the pod itself",
		"privileged":                 "leave privileged out, or write false",
		"procMount":                  "leave procMount out",
		"procMount_restricted":       "leave procMount out",
		"restrictedVolumes":          "use configMap, csi, downwardAPI, emptyDir, ephemeral, image, persistentVolumeClaim, projected or secret",
		"runAsNonRoot":               "leave runAsNonRoot out, or write true",
		"runAsUser":                  "leave runAsUser out, or write the number of a user other than root",
		"seLinuxOptions":             "leave seLinuxOptions out, or only its level",
		"seccompProfile_baseline":    "leave seccompProfile out, or write type: RuntimeDefault",
		"seccompProfile_restricted":  "leave seccompProfile out, or write type: RuntimeDefault",
		"sysctls":                    "leave these sysctls out: they affect other pods of the node",
		"windowsHostProcess":         "leave windowsOptions out",
	}
}

// explain extends the messages of a check by its name, and by what the user can write instead.
func explain(check *policy.Check) {
	id, words := check.ID, instead()[check.ID]
	for i := range check.Versions {
		judge := check.Versions[i].CheckPod
		check.Versions[i].CheckPod = func(meta *metav1.ObjectMeta, spec *corev1.PodSpec) policy.CheckResult {
			result := judge(meta, spec)
			if !result.Allowed {
				result.ForbiddenDetail = fmt.Sprintf("rule %s (%s): %s; %s", id, result.ForbiddenReason, result.ForbiddenDetail, words)
			}
			return result
		}
	}
}
