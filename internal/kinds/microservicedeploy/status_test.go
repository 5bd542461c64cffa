// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"errors"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

// scaled adds a working autoscaler, or an autoscaler with the given conditions.
func (f facts) scaled(conditions ...autoscalingv2.HorizontalPodAutoscalerCondition) facts {
	f.scaler = &autoscalingv2.HorizontalPodAutoscaler{}
	f.scaler.Spec.MinReplicas, f.scaler.Spec.MaxReplicas = new(int32(3)), 6
	f.scaler.Status.Conditions = conditions
	if conditions == nil {
		f.scaler.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{
			works(autoscalingv2.AbleToScale), works(autoscalingv2.ScalingActive),
		}
	}
	return f
}

func fails(kind autoscalingv2.HorizontalPodAutoscalerConditionType, words string) autoscalingv2.HorizontalPodAutoscalerCondition {
	return autoscalingv2.HorizontalPodAutoscalerCondition{Type: kind, Status: corev1.ConditionFalse, Message: words}
}

func works(kind autoscalingv2.HorizontalPodAutoscalerConditionType) autoscalingv2.HorizontalPodAutoscalerCondition {
	return autoscalingv2.HorizontalPodAutoscalerCondition{Type: kind, Status: corev1.ConditionTrue}
}

func (f facts) locked() facts {
	f.credentials = false
	return f
}

// foreigner marks the Secret with credentials as one that opcrew does not manage.
func (f facts) foreigner() facts {
	f.foreign = true
	return f
}

func (f facts) costing(entries ...string) facts {
	f.costly = entries
	return f
}

func (f facts) rivalled(rivals ...*customv1.MicroServiceDeploy) facts {
	for _, rival := range rivals {
		f.rivals = append(f.rivals, *rival)
	}
	return f
}

func (f facts) besideOthers() facts {
	f.tenant.Others = true
	return f
}

func TestEveryConditionReportsWhatItIsAbout(t *testing.T) {
	plain, three := newInstance(), newInstance(withReplicas(3))
	cpu := asks("requests.cpu=1")
	ofMetrics := newInstance(autoscaled)
	ofMetrics.Spec.Metrics = []customv1.Metric{{Type: "Pods"}}
	pathless := newInstance(func(m *customv1.MicroServiceDeploy) { m.Spec.Path = "v1" })
	undomained := newInstance(hosted("v1"), func(m *customv1.MicroServiceDeploy) {
		m.Spec.BaseDomain, m.Spec.Current, m.Spec.IngressClassName = "", new(true), "nginx"
	})
	gateway := newInstance(hosted("v1"))
	gateway.Spec.Gateway = &customv1.Gateway{Name: "front"}
	for name, test := range map[string]struct {
		m    *customv1.MicroServiceDeploy
		f    facts
		done kit.Outcome
		kind string
		want string
	}{
		"everything is as declared": {plain, observed(plain, 1), unchanged, customv1.MicroServiceDeployChildrenReady, "True AsDeclared: Every child object matches its declaration"},
		"a name is taken":           {plain, observed(plain, 1), done("Service", ensure.Taken, "it is helm's"), customv1.MicroServiceDeployChildrenReady, "False NameTaken: it is helm's"},
		"pods serve":                {three, observed(three, 3), unchanged, customv1.MicroServiceDeployRolledOut, "True AllPodsReady: 3 of 3 pods are ready"},
		"none is made yet":          {three, facts{}, unchanged, customv1.MicroServiceDeployRolledOut, "False Applying: The pods are being created"},
		"a bad image":               {newInstance(withImage(placeholder)), facts{}, unchanged, customv1.MicroServiceDeployRolledOut, `False InvalidImage: spec.image: "just a image url" is not a valid image (invalid reference format); write an image such as registry.example.com/team/app:1.0`},
		"held, with pods":           {newInstance(backTo(9)), observed(plain, 2), unchanged, customv1.MicroServiceDeployRolledOut, "False RevisionMissing: spec.rollbackTo names revision 9, which is not stored; stored revisions: 1; the 2 running pods stay unchanged"},
		"the number changes":        {three, observed(plain, 1), unchanged, customv1.MicroServiceDeployRolledOut, "False Updating: The number of pods is changing from 1 to 3"},
		"the scaler's number":       {newInstance(autoscaled, cpu), observed(plain, 5).scaled(), unchanged, customv1.MicroServiceDeployRolledOut, "True AllPodsReady: 5 of 5 pods are ready"},
		"served":                    {plain, observed(plain, 1), unchanged, customv1.MicroServiceDeployAvailable, "True Serving: At least one pod is ready to serve requests"},
		"idle, not served":          {newInstance(idle), observed(plain, 0), unchanged, customv1.MicroServiceDeployAvailable, "False ScaledToZero: The spec requests no pods"},

		"no autoscaling":                 {plain, observed(plain, 1), unchanged, customv1.MicroServiceDeployAutoscaled, "none"},
		"autoscaling, idle":              {newInstance(autoscaled, idle), observed(plain, 0), unchanged, customv1.MicroServiceDeployAutoscaled, "Unknown Idle: The MicroServiceDeploy is idle (spec.idle), so it is not autoscaled"},
		"autoscaling of none":            {newInstance(autoscaled, cpu, withReplicas(0)), observed(plain, 0), unchanged, customv1.MicroServiceDeployAutoscaled, "Unknown ScaledToZero: spec.replicas is 0, so the instance is not autoscaled"},
		"autoscaling without requests":   {newInstance(autoscaled), observed(plain, 1).scaled(), unchanged, customv1.MicroServiceDeployAutoscaled, "False NoRequests: spec.resourceRequirements requests no CPU, so the autoscaler has no value to compare CPU use with; set spec.resourceRequirements.requests.cpu, or set spec.metrics"},
		"autoscaling by a limit":         {newInstance(autoscaled, asks("limits.cpu=1")), observed(plain, 1), unchanged, customv1.MicroServiceDeployAutoscaled, "Unknown Applying: opcrew is creating the HorizontalPodAutoscaler"},
		"autoscaling by other metrics":   {ofMetrics, observed(plain, 1).scaled(), unchanged, customv1.MicroServiceDeployAutoscaled, "True Scaling: The autoscaler keeps between 3 and 6 pods, depending on their load"},
		"autoscaling":                    {newInstance(autoscaled, cpu), observed(plain, 1).scaled(), unchanged, customv1.MicroServiceDeployAutoscaled, "True Scaling: The autoscaler keeps between 3 and 6 pods, depending on their load"},
		"autoscaling without any metric": {newInstance(autoscaled, cpu), observed(plain, 1).scaled(works(autoscalingv2.AbleToScale), fails(autoscalingv2.ScalingActive, "no metrics returned")), unchanged, customv1.MicroServiceDeployAutoscaled, "Unknown NoMetrics: The autoscaler cannot change the number of pods: no metrics returned"},

		"autoscaling, not yet looked": {newInstance(autoscaled, cpu), observed(plain, 1).scaled(works(autoscalingv2.AbleToScale)), unchanged, customv1.MicroServiceDeployAutoscaled, "Unknown Applying: The HorizontalPodAutoscaler has not read the load of the pods yet"},
		"autoscaling, not able to":    {newInstance(autoscaled, cpu), observed(plain, 1).scaled(fails(autoscalingv2.AbleToScale, "not found")), unchanged, customv1.MicroServiceDeployAutoscaled, "Unknown NotAble: The autoscaler cannot change the number of pods: not found"},

		"no quota is asked for":      {newInstance(withQuota(customv1.QuotaNone)), observed(plain, 1), unchanged, customv1.MicroServiceDeployQuotaEnforced, "none"},
		"a quota":                    {plain, observed(plain, 1).sharing(plain, "pods=2"), unchanged, customv1.MicroServiceDeployQuotaEnforced, "True Enforced: ResourceQuota opcrew-microservices limits the pods of all MicroServiceDeploys in the namespace together"},
		"a quota beside others":      {plain, observed(plain, 1).besideOthers(), unchanged, customv1.MicroServiceDeployQuotaEnforced, "False QuotaNotEnforced: Other owners run pods in this namespace. A ResourceQuota would limit these pods too, so opcrew creates none; to create it anyway, label the namespace with opcrew.io/quota=true, or set spec.quota to PriorityClass"},
		"a quota is being made":      {plain, observed(plain, 1), unchanged, customv1.MicroServiceDeployQuotaEnforced, "Unknown Applying: opcrew is creating the ResourceQuota"},
		"a quota where all are idle": {newInstance(idle), observed(plain, 0), unchanged, customv1.MicroServiceDeployQuotaEnforced, "True ScaledToZero: None of the MicroServiceDeploys that request this ResourceQuota needs pods, so opcrew creates no quota"},

		"no auth":                   {plain, observed(plain, 1), unchanged, customv1.MicroServiceDeployAuthReady, "none"},
		"auth":                      {newInstance(needsAuth), observed(plain, 1), unchanged, customv1.MicroServiceDeployAuthReady, "True Credentials: The auth proxy accepts the credentials in Secret opcrew-basic-auth"},
		"auth of its own":           {newInstance(ownAuth), observed(plain, 1), unchanged, customv1.MicroServiceDeployAuthReady, "True Credentials: The auth proxy accepts the credentials in Secret users"},
		"a quota cannot be lowered": {plain, observed(plain, 1).sharing(plain, "pods=9").troubled(), unchanged, customv1.MicroServiceDeployQuotaEnforced, "True Refused: ResourceQuota opcrew-microservices limits the pods of all MicroServiceDeploys in the namespace together, but its limits are outdated: no"},
		"a quota cannot be made":    {plain, observed(plain, 1).troubled(), unchanged, customv1.MicroServiceDeployQuotaEnforced, "Unknown Refused: opcrew is creating the ResourceQuota; this is delayed: no"},
		"auth cannot be made":       {newInstance(needsAuth), observed(plain, 1).locked().troubled(), unchanged, customv1.MicroServiceDeployAuthReady, "False Refused: opcrew is creating the credentials that all instances of the namespace share; this is delayed: no"},
		"auth is being made":        {newInstance(needsAuth), observed(plain, 1).locked(), unchanged, customv1.MicroServiceDeployAuthReady, "False Applying: opcrew is creating the credentials that all instances of the namespace share"},
		"auth of its own, absent":   {newInstance(ownAuth), observed(plain, 1).locked(), unchanged, customv1.MicroServiceDeployAuthReady, "False NoCredentials: Secret users does not exist; running pods keep their current credentials, but no user can log in to new pods; to lock out all users, create the Secret with an empty key htpasswd"},
		"auth of its own, bad":      {newInstance(ownAuth), observed(plain, 1).locked().foreigner(), unchanged, customv1.MicroServiceDeployAuthReady, "False NoCredentials: Secret users, which opcrew does not manage, has no usable line user:hash (bcrypt or {SHA}) under the key htpasswd; no user can log in, beginning about a minute after the Secret was changed"},
		"auth with a costly entry":  {newInstance(ownAuth), observed(plain, 1).costing("user bob: bcrypt cost 31 is above 15"), unchanged, customv1.MicroServiceDeployAuthReady, "True Credentials: The auth proxy accepts the credentials in Secret users; user bob: bcrypt cost 31 is above 15"},
		"auth, costly entries only": {newInstance(ownAuth), observed(plain, 1).locked().foreigner().costing("user bob: bcrypt cost 31 is above 15"), unchanged, customv1.MicroServiceDeployAuthReady, "False NoCredentials: Secret users, which opcrew does not manage, has no usable line user:hash (bcrypt or {SHA}) under the key htpasswd; user bob: bcrypt cost 31 is above 15; no user can log in, beginning about a minute after the Secret was changed"},
		"another owner's Secret":    {newInstance(needsAuth), observed(plain, 1).locked().foreigner(), unchanged, customv1.MicroServiceDeployAuthReady, "False NoCredentials: Secret opcrew-basic-auth, which opcrew does not manage, has no usable line user:hash (bcrypt or {SHA}) under the key htpasswd; no user can log in, beginning about a minute after the Secret was changed"},
		"lines that are none":       {newInstance(withConfig("a=1\nA B=c\n# x\nGREETING hello\n")), observed(plain, 1), unchanged, customv1.MicroServiceDeployConfigWarning, "True IgnoredLines: spec.config: lines 2, 4 do not have the form key=value with a key of letters, digits, '.', '_' and '-'; the application finds these lines only in the file config.properties"},

		"no host":         {plain, observed(plain, 1), unchanged, customv1.MicroServiceDeployHostReady, "none"},
		"no domain":       {pathless, observed(pathless, 1), unchanged, customv1.MicroServiceDeployHostReady, "Unknown NoDomain: spec.baseDomain is not set, so the instance has no host name and these fields have no effect: spec.path; set spec.baseDomain, for example to example.com"},
		"no domain for 3": {undomained, observed(undomained, 1), unchanged, customv1.MicroServiceDeployHostReady, "Unknown NoDomain: spec.baseDomain is not set, so the instance has no host name and these fields have no effect: spec.current, spec.ingressClassName, spec.path; set spec.baseDomain, for example to example.com"},
		"hosts":           {newInstance(hosted("v1")), observed(plain, 1), unchanged, customv1.MicroServiceDeployHostReady, "True Hosted: Users reach the microservice at v1-web.example.com, web.example.com"},
		"a host is taken": {newInstance(hosted("v1"), aged(1)), observed(plain, 1).rivalled(newInstance(of("old"), hosted("v1"))), unchanged, customv1.MicroServiceDeployHostReady, "False HostTaken: v1-web.example.com belongs to MicroServiceDeploy shop/old; change spec.msName, spec.path, spec.baseDomain or spec.current to claim another host name"},
		"no Gateway API":  {gateway, observed(plain, 1), unchanged, customv1.MicroServiceDeployHostReady, "True NoGatewayAPI: The Gateway API is not installed, so an Ingress replaces the HTTPRoute"},

		"a harmless configuration":   {newInstance(withConfig("LEVEL=info")), observed(plain, 1), unchanged, customv1.MicroServiceDeployConfigWarning, "none"},
		"the article's":              {newInstance(withConfig("password=88888888")), observed(plain, 1), unchanged, customv1.MicroServiceDeployConfigWarning, "True LooksSecret: spec.config has keys that look like credentials (password), and anyone who may read ConfigMaps can see their values; set spec.configAs to Secret, or use spec.configFrom to keep the values out of this object too"},
		"the article's, as a Secret": {newInstance(withConfig("password=88888888"), asSecret), observed(plain, 1), unchanged, customv1.MicroServiceDeployConfigWarning, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			m := test.m.DeepCopy()
			// A condition that an earlier reconcile set must be removed when it no longer applies.
			m.Status.Conditions = []metav1.Condition{{Type: test.kind, Status: metav1.ConditionUnknown, Reason: "Before"}}
			same(t, test.kind, test.want, conditionOf(reported(m, test.f, test.done), test.kind))
		})
	}
}

func TestReadyIsTheFirstThatStandsInTheWay(t *testing.T) {
	all := newInstance(ownAuth, hosted("v1"), autoscaled, aged(1))
	taken := observed(all, 1).rivalled(newInstance(of("old"), hosted("v1")))
	bad := taken
	bad.rollout.Pods = nil
	pathless := newInstance(func(m *customv1.MicroServiceDeploy) { m.Spec.Path = "v1" })
	for name, test := range map[string]struct {
		m    *customv1.MicroServiceDeploy
		f    facts
		done kit.Outcome
		want string
	}{
		"children":                       {all, bad.locked(), done("Service", ensure.Taken, "helm's"), "False NameTaken: helm's"},
		"a failure":                      {all, bad.locked(), kit.Outcome{Err: errors.New("timeout")}, "Unknown Applying: timeout"},
		"a pause":                        {all, bad.locked(), kit.Outcome{Paused: true, Held: 1}, "False Paused: opcrew changes no child object while the object is paused by annotation opcrew.io/paused"},
		"then credentials":               {all, bad.locked(), unchanged, "False NoCredentials: Secret users does not exist; running pods keep their current credentials, but no user can log in to new pods; to lock out all users, create the Secret with an empty key htpasswd"},
		"then pods":                      {all, bad, unchanged, "False Updating: 0 of 1 pods are ready"},
		"then hosts":                     {all, taken, unchanged, "False HostTaken: v1-web.example.com belongs to MicroServiceDeploy shop/old; change spec.msName, spec.path, spec.baseDomain or spec.current to claim another host name"},
		"then autoscaling":               {all, observed(all, 1), unchanged, "False NoRequests: spec.resourceRequirements requests no CPU, so the autoscaler has no value to compare CPU use with; set spec.resourceRequirements.requests.cpu, or set spec.metrics"},
		"nothing":                        {newInstance(), observed(newInstance(), 1), unchanged, "True AllPodsReady: 1 of 1 pods are ready"},
		"no metrics are no obstacle":     {newInstance(autoscaled, asks("requests.cpu=1")), observed(newInstance(), 1).scaled(fails(autoscalingv2.ScalingActive, "none")), unchanged, "True AllPodsReady: 1 of 1 pods are ready"},
		"a quota beside others is none":  {newInstance(), observed(newInstance(), 1).besideOthers(), unchanged, "True AllPodsReady: 1 of 1 pods are ready"},
		"a warning is none":              {newInstance(withConfig("password=88888888")), observed(newInstance(withConfig("password=88888888")), 1), unchanged, "True AllPodsReady: 1 of 1 pods are ready"},
		"a path without a domain":        {pathless, observed(pathless, 1), unchanged, "True AllPodsReady: 1 of 1 pods are ready"},
		"an edit waits for a rollback":   {newInstance(withImage("nginx:9"), backTo(1)), observed(newInstance(), 1), unchanged, "True AllPodsReady: 1 of 1 pods are ready; spec.rollbackTo keeps revision 1 running instead of spec.image nginx:9; remove spec.rollbackTo to apply the spec"},
		"so does a configuration":        {newInstance(withConfig("a=1"), backTo(1)), observed(newInstance(), 1), unchanged, "True AllPodsReady: 1 of 1 pods are ready; spec.rollbackTo keeps revision 1 running instead of the configuration of the spec; remove spec.rollbackTo to apply the spec"},
		"a rollback to what the spec is": {newInstance(backTo(1)), observed(newInstance(), 1), unchanged, "True AllPodsReady: 1 of 1 pods are ready"},
		"of none":                        {newInstance(withReplicas(0)), observed(newInstance(), 0), unchanged, "True ScaledToZero: The spec requests no pods"},
		"idle":                           {newInstance(withReplicas(4), idle), observed(newInstance(), 0), unchanged, "True Idle: spec.idle is set, so the instance has no pods; 4 pods start when spec.idle is removed"},
		"not idle yet":                   {newInstance(idle), observed(newInstance(), 2), unchanged, "False Updating: The number of pods is changing from 2 to 0"},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "Ready", test.want, conditionOf(reported(test.m.DeepCopy(), test.f, test.done), customv1.MicroServiceDeployReady))
		})
	}
}

func TestTheStatusReportsAddressAndHistory(t *testing.T) {
	m := newInstance(hosted("v1"), withReplicas(2), asks("requests.cpu=1"), autoscaled, withConfig("password=88888888"))
	f := observed(m, 2).scaled().sharing(m, "pods=9").sets(newTemplate(4, "nginx:1.25", "web-config-0123456789"))
	golden.Check(t, "status.yaml", reported(m, f, unchanged).Status)
	golden.Check(t, "status-new.yaml", reported(newInstance(withImage(placeholder)), facts{}, unchanged).Status)
}

func TestTheScaleSubresourceSelectsThePods(t *testing.T) {
	m := reported(newInstance(), observed(newInstance(), 1), unchanged)
	parsed, err := metav1.ParseToLabelSelector(m.Status.Selector)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "selector", names.Identity(m).Selector, parsed.MatchLabels)
}
