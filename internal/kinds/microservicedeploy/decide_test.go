// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/config"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/quota"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/scaling"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/tenant"
)

// outdated makes the Deployment differ from the spec, so that a rollout is due.
func (f facts) outdated() facts {
	f.rollout.Deployment.Annotations = map[string]string{common.PinnedAnnotation: "others.template"}
	return f
}

// within adds a ResourceQuota of the user with the given limits and usage.
func (f facts) within(hard, used []string) facts {
	q := corev1.ResourceQuota{}
	q.Name, q.Spec.Hard, q.Status.Hard, q.Status.Used = "small", amountsOf(hard...), amountsOf(hard...), amountsOf(used...)
	f.tenant.All = append(f.tenant.All, q)
	return f
}

// sharing adds the ResourceQuota that opcrew creates for a namespace. The namespace has only this MicroServiceDeploy.
func (f facts) sharing(m *customv1.MicroServiceDeploy, hard ...string) facts {
	q := &corev1.ResourceQuota{}
	q.Spec.Hard, q.Status.Hard = amountsOf(hard...), amountsOf(hard...)
	f.tenant = quota.Tenant{
		Instances: []*customv1.MicroServiceDeploy{m}, Quotas: map[quota.Bound]*corev1.ResourceQuota{quota.ByNamespace: q},
		Deployments: map[types.UID]*appsv1.Deployment{m.UID: newDeployment(m, scaling.MostPods(m))},
	}
	return f
}

// troubled simulates that the API server rejects the shared quota and the shared credentials of the namespace.
func (f facts) troubled() facts {
	f.trouble = tenant.Trouble{Reason: common.ReasonRefused, Message: "no"}
	return f
}

func TestWhatHoldsPodsAsTheyAre(t *testing.T) {
	one := asks("requests.cpu=1")
	m := newInstance(one)
	with := func(f facts, configs ...string) facts {
		f.configs = map[string]*config.Config{}
		for _, name := range configs {
			f.configs[name] = &config.Config{Name: name}
		}
		return f
	}
	history := observed(m, 2).sets(newTemplate(7, "old", "old-config"))
	scoped := observed(m, 2).outdated().within([]string{"pods=0"}, nil)
	scoped.tenant.All[0].Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}
	found := observed(newInstance(configFrom), 2)
	found.config = &config.Config{Name: "mine", Secret: true, Hash: "h"}
	status := observed(m, 2).sharing(m, "pods=2", "requests.cpu=2")
	status.tenant.Quotas[quota.ByNamespace].Status.Hard = amountsOf("pods=1")
	changing := observed(m, 2).outdated().sharing(m, "pods=2", "requests.cpu=2")
	changing.tenant.Quotas[quota.ByNamespace].Status.Hard = amountsOf("pods=1")
	locked := observed(newInstance(needsAuth), 2)
	locked.credentials = false
	for name, test := range map[string]struct {
		m       *customv1.MicroServiceDeploy
		f       facts
		want    string // reason and message
		nothing bool
	}{
		"nothing":                         {m, facts{}, "", false},
		"nothing, with pods":              {m, observed(m, 2), "", false},
		"a bad image, with pods":          {newInstance(withImage(placeholder)), observed(m, 2), `InvalidImage: spec.image: "just a image url" is not a valid image (invalid reference format); write an image such as registry.example.com/team/app:1.0`, false},
		"a bad image":                     {newInstance(withImage("UPPER")), facts{}, `InvalidImage: spec.image: "UPPER" is not a valid image (invalid reference format: repository name (library/UPPER) must be lowercase); write an image such as registry.example.com/team/app:1.0`, true},
		"a bad image, rolled back":        {newInstance(withImage(placeholder), backTo(7)), with(history, "old-config"), "", false},
		"no such revision":                {newInstance(backTo(3)), history, "RevisionMissing: spec.rollbackTo names revision 3, which is not stored; stored revisions: 7, 1", false},
		"no revision at all":              {newInstance(backTo(3)), facts{}, "RevisionMissing: spec.rollbackTo names revision 3, which is not stored; stored revisions: none", true},
		"a revision without its config":   {newInstance(backTo(7)), with(history), "ConfigMissing: the configuration object old-config of revision 7 no longer exists; set spec.rollbackTo to another revision, or remove it", false},
		"a revision with its config":      {newInstance(backTo(7)), with(history, "old-config"), "", false},
		"the user's Secret is missing":    {newInstance(configFrom), facts{}, "ConfigMissing: spec.configFrom: Secret mine does not exist", true},
		"the user's Secret is there":      {newInstance(configFrom), found, "", false},
		"missing, but rolled back":        {newInstance(configFrom, backTo(7)), with(history, "old-config"), "", false},
		"credentials are being made":      {newInstance(needsAuth), locked, "Applying: opcrew is creating the credentials that all instances of the namespace share", false},
		"credentials of the user's own":   {newInstance(ownAuth), locked, "NoCredentials: Secret users does not exist, so no user could log in", false},
		"another owner's Secret":          {newInstance(needsAuth), locked.foreigner(), "NoCredentials: Secret opcrew-basic-auth, which opcrew does not manage, has no usable line user:hash (bcrypt or {SHA}) under the key htpasswd, so no user could log in", false},
		"credentials cannot be made":      {newInstance(needsAuth), locked.troubled(), "Refused: opcrew is creating the credentials that all instances of the namespace share; this is delayed: no", false},
		"a share that cannot be had":      {m, facts{}.sharing(m, "pods=1").troubled(), "Refused: opcrew is raising the ResourceQuota of the namespace; this is delayed: no", true},
		"an instance's first share":       {m, facts{}.sharing(m, "pods=1"), "Updating: opcrew is raising the ResourceQuota of the namespace", true},
		"a larger share":                  {newInstance(one, withReplicas(9)), observed(m, 2).sharing(m, "pods=3", "requests.cpu=3"), "Updating: opcrew is raising the ResourceQuota of the namespace", false},
		"a share that is not in force":    {m, changing, "Updating: opcrew is raising the ResourceQuota of the namespace", false},
		"another's share":                 {m, status, "", false}, // Regression: when one MicroServiceDeploy was scaled, no MicroServiceDeploy of the namespace was Ready.
		"a share that it has":             {m, observed(m, 1).sharing(m, "pods=2", "requests.cpu=2"), "", false},
		"a rollout that does not fit":     {m, observed(m, 2).outdated().within([]string{"cpu=2"}, []string{"cpu=1600m"}), "QuotaTooSmall: The rollout does not fit into ResourceQuota small: a new pod needs 1 requests.cpu, 400m free. The rollout starts when the quota has room", false},
		"a rollout that fits":             {m, observed(m, 2).outdated().within([]string{"cpu=3"}, []string{"cpu=2"}), "", false},
		"no rollout":                      {m, observed(m, 2).within([]string{"cpu=2"}, []string{"cpu=2"}), "", false},
		"the first pods":                  {m, facts{}.within([]string{"cpu=0"}, nil), "", false},
		"no pods, so none that is beside": {m, observed(m, 0).outdated().within([]string{"cpu=0"}, nil), "", false},
		"a quota of some pods only":       {m, scoped, "", false},
		"the second of two quotas":        {m, observed(m, 2).outdated().within([]string{"pods=9"}, nil).within([]string{"pods=2"}, []string{"pods=2"}), "QuotaTooSmall: The rollout does not fit into ResourceQuota small: a new pod needs 1 pods, 0 free. The rollout starts when the quota has room", false},
	} {
		t.Run(name, func(t *testing.T) {
			d := decideAt(test.m, test.f)
			got := ""
			if d.held != nil {
				got = d.held.reason + ": " + d.held.message
			}
			same(t, "held", test.want, got)
			same(t, "nothing can be made", test.nothing, d.nothing)
		})
	}
}

func TestARevisionRunsWithTheConfigurationThatItNames(t *testing.T) {
	m := newInstance(withConfig("a=1"))
	own := config.Declared(m)
	f := facts{configs: map[string]*config.Config{"old": {Name: "old"}, own.Name: {Name: own.Name}}}
	same(t, "none", (*config.Config)(nil), configOf(m, f.config, f.configs, rev(1, "a", "")))
	same(t, "the spec's", []string{"a"}, configOf(m, f.config, f.configs, rev(1, "a", own.Name)).Keys)
	same(t, "an old one", "old", configOf(m, f.config, f.configs, rev(1, "a", "old")).Name)
	f.config = &config.Config{Name: "mine", Secret: true}
	same(t, "the user's", true, configOf(newInstance(configFrom), f.config, f.configs, rev(1, "a", "mine")).Secret)
}
