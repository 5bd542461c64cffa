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
		"allowPrivilegeEscalation":   "omit allowPrivilegeEscalation, or set it to false",
		"appArmorProfile":            "omit the AppArmor profile, or set it to RuntimeDefault",
		"capabilities_baseline":      "remove these capabilities from capabilities.add",
		"capabilities_restricted":    "omit capabilities.add, or add only NET_BIND_SERVICE",
		"hostNamespaces":             "omit hostNetwork, hostPID and hostIPC",
		"hostPathVolumes":            "use a persistentVolumeClaim instead of hostPath",
		"hostPorts":                  "omit hostPort; use a Service of type NodePort to make the port reachable on nodes",
		"hostProbesAndHostLifecycle": "omit host, so that the kubelet probes the pod itself",
		"privileged":                 "omit privileged, or set it to false",
		"procMount":                  "omit procMount",
		"procMount_restricted":       "omit procMount",
		"restrictedVolumes":          "use configMap, csi, downwardAPI, emptyDir, ephemeral, image, persistentVolumeClaim, projected or secret",
		"runAsNonRoot":               "omit runAsNonRoot, or set it to true",
		"runAsUser":                  "omit runAsUser, or set it to the ID of a user other than root",
		"seLinuxOptions":             "omit seLinuxOptions, or set only its level",
		"seccompProfile_baseline":    "omit seccompProfile, or set its type to RuntimeDefault",
		"seccompProfile_restricted":  "omit seccompProfile, or set its type to RuntimeDefault",
		"sysctls":                    "remove these sysctls, because they affect other pods on the node",
		"windowsHostProcess":         "omit windowsOptions",
	}
}

// explain adds two things to the messages of a check: the name of the check, and what the user can write instead.
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
