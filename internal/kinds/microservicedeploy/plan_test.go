// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/config"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
)

func TestAnObjectThatGoesNeedsNoPlan(t *testing.T) {
	going := newInstance(withReplicas(3), needsAuth)
	going.DeletionTimestamp = &metav1.Time{Time: someTime}
	if plan := planAt(going, facts{}, someTime); len(plan.Children)+len(plan.Prune) > 0 || plan.Again > 0 {
		t.Errorf("expected nothing to be done for an object that goes, got %+v", plan)
	}
}

// opcrew does not watch some objects, such as users' Secrets. It reads them again after a short time if a
// MicroServiceDeploy is waiting for such an object, and otherwise after a long time.
func TestSecretsOfTheUserAndQuotasAreLookedAtAgain(t *testing.T) {
	plain, from := newInstance(), newInstance(configFrom)
	there := observed(from, 1)
	there.config = &config.Config{Name: "mine", Secret: true}
	for name, test := range map[string]struct {
		m    *customv1.MicroServiceDeploy
		f    facts
		want time.Duration
	}{
		"nothing to wait for":              {plain, observed(plain, 1), 0},
		"a bad image":                      {newInstance(withImage(placeholder)), facts{}, 0},
		"the tenant's credentials":         {newInstance(needsAuth), observed(plain, 1), 0},
		"the user's configuration":         {from, there, secretInterval},
		"the user's configuration, absent": {from, observed(from, 1), waitInterval}, // Regression: opcrew read the missing Secret again only after an hour.
		"the user's credentials":           {newInstance(ownAuth), observed(plain, 1), secretInterval},
		"the user's credentials, absent":   {newInstance(ownAuth), observed(plain, 1).locked(), waitInterval},
		"room in a quota":                  {plain, observed(plain, 1).outdated().within([]string{"pods=1"}, []string{"pods=1"}), waitInterval},
	} {
		if got := planAt(test.m, test.f, someTime).Again; got != test.want {
			t.Errorf("%s: expected another look after %s, got %s", name, test.want, got)
		}
	}
}

func TestWhatIsNotDeclaredStaysWhereAUserStillNeedsIt(t *testing.T) {
	m := newInstance(withConfig("a=1"))
	named, other := names.Child(m)+"-config-1", names.Child(m)+"-config-2"
	f := facts{configs: map[string]*config.Config{named: {}}}
	for name, test := range map[string]struct {
		object client.Object
		held   bool
		want   bool
	}{
		"a configuration that a template names": {&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: named}}, false, true},
		// Regression: opcrew deleted the configuration while the pods waited for a quota and the cache was stale.
		"that of the spec, while pods are held":     {&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: config.Declared(m).Name}}, true, true},
		"one that none names":                       {&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: other}}, false, false},
		"a Secret that none names":                  {&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: other}}, false, false},
		"a copy under another name is a user's":     {&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "my-copy"}}, false, true},
		"the wall of pods that stay as they are":    {&networkingv1.NetworkPolicy{}, true, true},
		"the wall of an instance that asks no more": {&networkingv1.NetworkPolicy{}, false, false},
	} {
		if got := stays(m, test.object, f.configs, specConfig(m, f.config), test.held); got != test.want {
			t.Errorf("%s: expected it to stay: %v, got %v", name, test.want, got)
		}
	}
}
