// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/condition"
)

// blockers are what stands in the way of Ready, the first that does being its cause.
var blockers = []condition.Blocker{
	condition.Unless(customv1.MicroServiceDeployChildrenReady),
	condition.WhenFalse(customv1.MicroServiceDeployAuthReady),
	condition.Unless(customv1.MicroServiceDeployRolledOut),
	condition.WhenFalse(customv1.MicroServiceDeployHostReady),
	condition.WhenFalse(customv1.MicroServiceDeployAutoscaled),
}

// Report fills the status from the facts and from what was done.
func (r *reconciler) Report(m *customv1.MicroServiceDeploy, f facts, done kit.Outcome, now time.Time) {
	s, d := &m.Status, decide(m, f)
	set := condition.Set{Conditions: &s.Conditions, Generation: m.Generation, Now: now}
	s.Selector = metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: identity(m).Selector})
	s.Replicas, s.ReadyReplicas = f.rollout.Replicas(), f.rollout.Ready()
	s.Revision = d.running(f)
	if f.rollout.Deployment != nil {
		s.Revisions = revisions(f.rollout)
	}
	kit.ReportChildren(set, customv1.MicroServiceDeployChildrenReady, done)
	f.nodePorts.Report(set, customv1.MicroServiceDeployChildrenReady, done)
	f.rollout.Report(set, d.scale.wanted(f.rollout), done)
	if d.held != nil {
		set.False(customv1.MicroServiceDeployRolledOut, d.held.reason, d.held.message+stays(f))
	}
	noteRollback(set, m, f, d)
	reportHosts(set, m, f)
	reportAuth(set, m, f)
	reportScaling(set, m, f)
	reportQuota(set, m, f)
	reportConfig(set, m)
	sumUp(set, m, d)
	f.rollout.Leftovers(now).Report(set)
}

func sumUp(set condition.Set, m *customv1.MicroServiceDeploy, d decision) {
	rolled := meta.FindStatusCondition(m.Status.Conditions, customv1.MicroServiceDeployRolledOut)
	reason, message := rolled.Reason, rolled.Message
	if m.Spec.Idle {
		reason, message = customv1.ReasonIdle, fmt.Sprintf("Unloaded by spec.idle; %d pods come back without it", d.scale.awake)
	}
	set.SumUp(blockers, reason, message)
}

func stays(f facts) string {
	if f.rollout.Deployment == nil {
		return ""
	}
	return fmt.Sprintf("; the %d pods that run stay as they are", f.rollout.Running())
}

// noteRollback adds to RolledOut, and so to Ready, what of the spec is not carried out because of spec.rollbackTo.
func noteRollback(set condition.Set, m *customv1.MicroServiceDeploy, f facts, d decision) {
	const kind = customv1.MicroServiceDeployRolledOut
	words := d.rolledBack(m, f.configName(m))
	switch told := meta.FindStatusCondition(*set.Conditions, kind); {
	case words == "":
	case told.Status == metav1.ConditionTrue:
		set.True(kind, told.Reason, told.Message+"; "+words)
	default:
		set.False(kind, told.Reason, told.Message+"; "+words)
	}
}

// unhosted names the fields that have no effect without a domain; "" where none is set.
func unhosted(m *customv1.MicroServiceDeploy) string {
	var fields []string
	for field, isSet := range map[string]bool{
		"spec.path": m.Spec.Path != "", "spec.current": m.Spec.Current != nil, "spec.ingressClassName": m.Spec.IngressClassName != "",
	} {
		if isSet {
			fields = append(fields, field)
		}
	}
	slices.Sort(fields)
	return strings.Join(fields, ", ")
}

func reportHosts(set condition.Set, m *customv1.MicroServiceDeploy, f facts) {
	const kind = customv1.MicroServiceDeployHostReady
	has, lost := hosts(m, f.rivals)
	m.Status.Hosts, m.Status.URL = has, url(has)
	switch idle := unhosted(m); {
	case m.Spec.BaseDomain == "" && idle != "":
		set.Unknown(kind, customv1.ReasonNoDomain, "spec.baseDomain is not set, so that there is no host name and no effect of "+idle+"; set it, such as example.com")
	case m.Spec.BaseDomain == "":
		set.Remove(kind)
	case len(lost) > 0:
		set.False(kind, customv1.ReasonHostTaken, strings.Join(lost, ", ")+"; choose another msName, path or baseDomain, or spec.current")
	case m.Spec.Gateway != nil && !f.gateways:
		set.True(kind, customv1.ReasonNoGatewayAPI, "Gateway API is not installed: an Ingress stands in for the HTTPRoute")
	default:
		set.True(kind, customv1.ReasonHosted, "Reached at "+strings.Join(has, ", "))
	}
}

func reportAuth(set condition.Set, m *customv1.MicroServiceDeploy, f facts) {
	const kind = customv1.MicroServiceDeployAuthReady
	switch {
	case !m.Spec.NeedAuth:
		set.Remove(kind)
	case f.credentials:
		set.True(kind, customv1.ReasonCredentials, "Asks for the credentials of Secret "+sources(m)[0].secret)
	case m.Spec.Auth != nil && !f.foreign:
		// By mistake or not: a deletion alone does not lock all users out.
		set.False(kind, customv1.ReasonNoCredentials, f.noCredentials(m)+"; pods that run go on with the credentials that they have, new ones let nobody in; empty its key "+htpasswdKey+" instead to lock users out")
	case m.Spec.Auth != nil || f.foreign:
		set.False(kind, customv1.ReasonNoCredentials, f.noCredentials(m)+"; nobody is let in, from about a minute after it was changed on")
	default:
		why := f.tenant.awaited(common.ReasonApplying, "The tenant's credentials are being made")
		set.False(kind, why.reason, why.message)
	}
}

func reportScaling(set condition.Set, m *customv1.MicroServiceDeploy, f facts) {
	const kind = customv1.MicroServiceDeployAutoscaled
	switch {
	case !m.Spec.Autoscaling:
		set.Remove(kind)
	case m.Spec.Idle:
		set.Unknown(kind, customv1.ReasonIdle, "An idle instance is not scaled")
	case !autoscales(m):
		set.Unknown(kind, common.ReasonScaledToZero, "An instance of 0 replicas is not scaled")
	case len(m.Spec.Metrics) == 0 && !asksCPU(m):
		set.False(kind, customv1.ReasonNoRequests, "spec.resourceRequirements asks for no cpu, so there is nothing to compare the use with; set requests.cpu, or spec.metrics")
	case f.scaler == nil:
		set.Unknown(kind, common.ReasonApplying, "The autoscaler is being made")
	default:
		reportScaler(set, f.scaler)
	}
}

// reportScaler says what the autoscaler says of itself. Without metrics the number of
// pods stays as it is, which holds nothing up.
func reportScaler(set condition.Set, scaler *autoscalingv2.HorizontalPodAutoscaler) {
	const kind = customv1.MicroServiceDeployAutoscaled
	switch active, able := said(scaler, autoscalingv2.ScalingActive), said(scaler, autoscalingv2.AbleToScale); {
	case active.Status == corev1.ConditionFalse:
		set.Unknown(kind, customv1.ReasonNoMetrics, "The number of pods stays as it is: "+active.Message)
	case able.Status == corev1.ConditionFalse:
		set.Unknown(kind, customv1.ReasonNotAble, "The number of pods stays as it is: "+able.Message)
	case active.Status == corev1.ConditionTrue:
		set.True(kind, customv1.ReasonScaling, fmt.Sprintf("From %d to %d pods, as their load asks for", *scaler.Spec.MinReplicas, scaler.Spec.MaxReplicas))
	default:
		set.Unknown(kind, common.ReasonApplying, "The autoscaler has not looked at the load yet")
	}
}

// said is a condition of an autoscaler, empty as long as it has not looked.
func said(scaler *autoscalingv2.HorizontalPodAutoscaler, kind autoscalingv2.HorizontalPodAutoscalerConditionType) autoscalingv2.HorizontalPodAutoscalerCondition {
	for _, c := range scaler.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return autoscalingv2.HorizontalPodAutoscalerCondition{}
}

func asksCPU(m *customv1.MicroServiceDeploy) bool {
	r := m.Spec.ResourceRequirements
	return r.Requests[corev1.ResourceCPU] != "" || r.Limits[corev1.ResourceCPU] != ""
}

func reportQuota(set condition.Set, m *customv1.MicroServiceDeploy, f facts) {
	const kind = customv1.MicroServiceDeployQuotaEnforced
	switch b, asked := boundOf(m); {
	case !asked:
		set.Remove(kind)
	case f.tenant.quotas[b] != nil && b == byClass:
		f.tenant.enforced(set, fmt.Sprintf("ResourceQuota %s bounds the pods of PriorityClass %s together, and leaves others alone", b.name, customv1.QuotaPriorityClassName))
	case f.tenant.quotas[b] != nil:
		f.tenant.enforced(set, "ResourceQuota "+b.name+" bounds all instances of the namespace together")
	case f.tenant.strangers:
		set.False(kind, customv1.ReasonQuotaNotEnforced, "Pods of others run in this namespace, and a quota would bound them too; label it "+QuotaLabel+"=true to have one all the same, or use quota: PriorityClass")
	case mostPods(m) == 0:
		set.True(kind, common.ReasonScaledToZero, "No instance that asks for it is to have pods: there is nothing to bound")
	default:
		why := f.tenant.awaited(common.ReasonApplying, "The quota is being made")
		set.Unknown(kind, why.reason, why.message)
	}
}

// enforced reports a quota that is there, also while it cannot be changed.
func (f tenantFacts) enforced(set condition.Set, message string) {
	reason := customv1.ReasonEnforced
	if f.trouble != (obstacle{}) {
		reason, message = f.trouble.reason, message+", with what was needed before: "+f.trouble.message
	}
	set.True(customv1.MicroServiceDeployQuotaEnforced, reason, message)
}

// reportIgnored warns of lines that are neither variables nor files.
func reportIgnored(set condition.Set, lines []string) {
	const kind = customv1.MicroServiceDeployConfigWarning
	if len(lines) == 0 {
		set.Remove(kind)
		return
	}
	more := ""
	if len(lines) > 10 {
		lines, more = lines[:10], " and more"
	}
	set.True(kind, customv1.ReasonIgnoredLines, fmt.Sprintf("spec.config: lines %s%s are not key=value with a key of letters, digits, '.', '_' and '-'; they stand in the file %s alone", strings.Join(lines, ", "), more, configFile))
}

// reportConfig warns of credentials where everybody can read them; it tells their keys
// and never their values.
func reportConfig(set condition.Set, m *customv1.MicroServiceDeploy) {
	const kind = customv1.MicroServiceDeployConfigWarning
	if n := len(parse(m.Spec.Config)); n > maxVariables {
		set.True(kind, customv1.ReasonTooManyKeys, fmt.Sprintf("spec.config has %d keys; the first %d by name are in the environment, all of them in the files", n, maxVariables))
		return
	}
	keys := looksSecret(m.Spec.Config)
	if len(keys) == 0 || m.Spec.ConfigAs == customv1.ConfigAsSecret {
		reportIgnored(set, ignored(m.Spec.Config))
		return
	}
	set.True(kind, customv1.ReasonLooksSecret, fmt.Sprintf("spec.config has keys that look like credentials (%s), which whoever may read ConfigMaps can see; use configAs: Secret or, to keep them out of this object too, configFrom", strings.Join(keys, ", ")))
}
