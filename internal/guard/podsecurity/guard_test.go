// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package podsecurity

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/guard"
)

// change modifies a pod that otherwise meets the restricted Pod Security Standard.
type change func(*corev1.PodTemplateSpec)

// newPod returns a pod that meets the restricted Pod Security Standard, except for the given changes.
func newPod(changes ...change) *corev1.PodTemplateSpec {
	pod := &corev1.PodTemplateSpec{}
	pod.Spec.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	pod.Spec.Containers = []corev1.Container{{Name: "main", SecurityContext: &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}}}
	for _, c := range changes {
		c(pod)
	}
	return pod
}

func with(change func(*corev1.SecurityContext)) change {
	return func(pod *corev1.PodTemplateSpec) { change(pod.Spec.Containers[0].SecurityContext) }
}

func withVolume(source corev1.VolumeSource) change {
	return func(pod *corev1.PodTemplateSpec) {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "extra", VolumeSource: source})
	}
}

func adding(capabilities ...corev1.Capability) change {
	return with(func(c *corev1.SecurityContext) { c.Capabilities.Add = capabilities })
}

func asRoot(pod *corev1.PodTemplateSpec) {
	pod.Spec.SecurityContext.RunAsNonRoot, pod.Spec.SecurityContext.RunAsUser = nil, new(int64(0))
}

func unfiltered(pod *corev1.PodTemplateSpec) { pod.Spec.SecurityContext.SeccompProfile = nil }

func onTheHostNetwork(pod *corev1.PodTemplateSpec) { pod.Spec.HostNetwork = true }

func onTheHost(pod *corev1.PodTemplateSpec) { pod.Spec.HostPID, pod.Spec.HostNetwork = true, true }

var (
	privileged = with(func(c *corev1.SecurityContext) { c.Privileged, c.AllowPrivilegeEscalation = new(true), nil })
	escalating = with(func(c *corev1.SecurityContext) { c.AllowPrivilegeEscalation = nil })
	plain      = with(func(c *corev1.SecurityContext) { *c = corev1.SecurityContext{} })
	hostPath   = withVolume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}})
)

func hostPort(pod *corev1.PodTemplateSpec) {
	pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
}

func probesOtherHosts(pod *corev1.PodTemplateSpec) {
	pod.Spec.Containers[0].LivenessProbe = &corev1.Probe{}
	pod.Spec.Containers[0].LivenessProbe.HTTPGet = &corev1.HTTPGetAction{Host: "169.254.169.254"}
}

func unconfined(pod *corev1.PodTemplateSpec) {
	pod.Annotations = map[string]string{"container.apparmor.security.beta.kubernetes.io/main": "unconfined"}
}

func privilegedInit(pod *corev1.PodTemplateSpec) {
	pod.Spec.InitContainers = []corev1.Container{{Name: "init", SecurityContext: &corev1.SecurityContext{Privileged: new(true)}}}
}

// Each row is a pod, followed by the rules that it breaks in each profile: restricted, baseline, SSH server and host
// command.
func TestAPodIsRefusedForTheRulesOfItsProfile(t *testing.T) {
	for name, test := range map[string]struct {
		pod                              *corev1.PodTemplateSpec
		restricted, baseline, sshd, host string
	}{
		"nothing special":            {newPod(), "", "", "", ""},
		"a privileged container":     {newPod(privileged), "privileged allowPrivilegeEscalation", "privileged", "privileged allowPrivilegeEscalation", ""},
		"a privileged init":          {newPod(privilegedInit), "privileged allowPrivilegeEscalation capabilities_restricted", "privileged", "privileged allowPrivilegeEscalation", ""},
		"the host's root directory":  {newPod(hostPath), "restrictedVolumes", "hostPathVolumes", "restrictedVolumes", "restrictedVolumes"},
		"a volume of a file server":  {newPod(withVolume(corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "a", Path: "/"}})), "restrictedVolumes", "", "restrictedVolumes", "restrictedVolumes"},
		"a volume without a source":  {newPod(withVolume(corev1.VolumeSource{})), "", "", "", ""},
		"a claim":                    {newPod(withVolume(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "a"}})), "", "", "", ""},
		"the host's namespaces":      {newPod(onTheHost), "hostNamespaces", "hostNamespaces", "hostNamespaces", ""},
		"a port of the host":         {newPod(hostPort), "hostPorts", "hostPorts", "hostPorts", "hostPorts"},
		"a probe of another host":    {newPod(probesOtherHosts), "hostProbesAndHostLifecycle", "hostProbesAndHostLifecycle", "hostProbesAndHostLifecycle", "hostProbesAndHostLifecycle"},
		"no AppArmor":                {newPod(unconfined), "appArmorProfile", "appArmorProfile", "appArmorProfile", "appArmorProfile"},
		"root":                       {newPod(asRoot), "runAsNonRoot runAsUser", "", "", ""},
		"what servers start with":    {newPod(adding("CHOWN", "NET_BIND_SERVICE")), "capabilities_restricted", "", "", ""},
		"a low port":                 {newPod(adding("NET_BIND_SERVICE")), "", "", "", ""},
		"the host's administrator":   {newPod(adding("SYS_ADMIN")), "capabilities_restricted", "capabilities_baseline", "capabilities_baseline", "capabilities_baseline"},
		"the runtime's defaults":     {newPod(plain), "allowPrivilegeEscalation capabilities_restricted", "", "allowPrivilegeEscalation", ""},
		"new privileges":             {newPod(escalating), "allowPrivilegeEscalation", "", "allowPrivilegeEscalation", ""},
		"no filter of system calls":  {newPod(unfiltered), "seccompProfile_restricted", "", "seccompProfile_restricted", ""},
		"what a command on hosts is": {newPod(onTheHost, privileged, asRoot, unfiltered), "hostNamespaces privileged allowPrivilegeEscalation runAsNonRoot runAsUser seccompProfile_restricted", "hostNamespaces privileged", "hostNamespaces privileged allowPrivilegeEscalation seccompProfile_restricted", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for profile, want := range map[guard.Security]string{
				guard.Restricted: test.restricted, guard.Baseline: test.baseline, guard.SSHServer: test.sshd, guard.HostCommand: test.host,
			} {
				if got := broken(t, profile, test.pod); got != want {
					t.Errorf("profile %q: expected the pod to break the rules %q, got %q", profile, want, got)
				}
			}
		})
	}
}

// broken returns the names of the rules that a pod breaks.
func broken(t *testing.T, profile guard.Security, pod *corev1.PodTemplateSpec) string {
	t.Helper()
	all, err := newGuard(t).Broken(profile, pod)
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, text := range all {
		rule, _, _ := strings.Cut(strings.TrimPrefix(text, "rule "), " ")
		rules = append(rules, rule)
	}
	return strings.Join(rules, " ")
}

func newGuard(t *testing.T) *Guard {
	t.Helper()
	guard, err := NewGuard()
	if err != nil {
		t.Fatal(err)
	}
	return guard
}

func TestAnObjectionNamesTheRuleTheFieldAndWhatToWrite(t *testing.T) {
	objection, err := newGuard(t).Object(t.Context(), nil, guard.Pod{
		Kind: "StatefulSet", ObjectKey: client.ObjectKey{Namespace: "shop", Name: "cache"}, Template: newPod(hostPath, adding("SYS_ADMIN")),
	})
	if err != nil || objection == nil {
		t.Fatalf("expected an objection, got %v (%v)", objection, err)
	}
	const want = `StatefulSet shop/cache is not written: its pod breaks the restricted Pod Security Standard: ` +
		`rule capabilities_restricted (unrestricted capabilities): container "main" must not include "SYS_ADMIN" in securityContext.capabilities.add; ` +
		`omit capabilities.add, or add only NET_BIND_SERVICE. ` +
		`rule restrictedVolumes (restricted volume types): volume "extra" uses restricted volume type "hostPath"; ` +
		`use configMap, csi, downwardAPI, emptyDir, ephemeral, image, persistentVolumeClaim, projected or secret`
	if objection.Reason != common.ReasonPodSecurityViolation || objection.Message != want {
		t.Errorf("expected %s:\n%s\ngot %s:\n%s", common.ReasonPodSecurityViolation, want, objection.Reason, objection.Message)
	}
}

func TestAPodOfAnUnknownProfileIsNotWritten(t *testing.T) {
	pod := guard.Pod{Security: "none", Template: newPod()}
	if _, err := newGuard(t).Object(t.Context(), nil, pod); err == nil {
		t.Error("expected an error, as a profile without rules would allow everything")
	}
}

func TestACheckLeavesThePodAsItIs(t *testing.T) {
	pod := newPod(withVolume(corev1.VolumeSource{}))
	if got := broken(t, guard.Restricted, pod); got != "" {
		t.Errorf("expected a volume without a source to be an empty directory, got %s", got)
	}
	if pod.Spec.Volumes[0].EmptyDir != nil {
		t.Error("expected the pod to stay as it was declared")
	}
}

// A new version of the pod-security-admission library may add or rename checks.
func TestEveryCheckHasWordsAndEveryExemptionIsOfACheck(t *testing.T) {
	checks := map[policy.CheckID]bool{}
	for _, check := range policy.DefaultChecks() {
		checks[check.ID] = true
		if instead()[check.ID] == "" {
			t.Errorf("check %s: expected words that say what to write instead", check.ID)
		}
	}
	for name, p := range profiles() {
		for _, e := range p.exempt {
			if !checks[e.check] || e.why == "" {
				t.Errorf("profile %q: expected exemption %s to be of an existing check, with a reason", name, e.check)
			}
		}
	}
}

// Each pod in this test needs all exemptions of its profile. If one exemption is removed, the pod must break exactly
// the check that was exempted. So no exemption is broader than necessary.
func TestEveryExemptionIsNeeded(t *testing.T) {
	pods := map[guard.Security]*corev1.PodTemplateSpec{
		guard.SSHServer:   newPod(asRoot, adding("SETUID")),
		guard.NodeAgent:   newPod(onTheHostNetwork, hostPath, asRoot, adding("NET_ADMIN")),
		guard.HostCommand: newPod(onTheHost, privileged, plain, asRoot, unfiltered, with(func(c *corev1.SecurityContext) { c.Privileged = new(true) })),
	}
	for name, p := range profiles() {
		for i, e := range p.exempt {
			stricter := profile{p.level, append(append([]exemption{}, p.exempt[:i]...), p.exempt[i+1:]...)}
			evaluator, err := stricter.evaluator()
			if err != nil {
				t.Fatal(err)
			}
			g := &Guard{rules: map[guard.Security]rules{name: {stricter.level, evaluator}}}
			got, err := g.Broken(name, pods[name])
			if err != nil || len(got) != 1 || !strings.HasPrefix(got[0], "rule "+string(e.check)+" ") {
				t.Errorf("profile %q without exemption %s: expected the pod to break that rule alone, got %v (%v)", name, e.check, got, err)
			}
		}
	}
}
