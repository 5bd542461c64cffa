// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func enforcing(level string) *corev1.Namespace {
	ns := &corev1.Namespace{}
	ns.Name, ns.UID = "shop", "uid-of-shop"
	if level != "" {
		ns.Labels = map[string]string{"pod-security.kubernetes.io/enforce": level}
	}
	return ns
}

func TestAnApplicationHasTheProfileThatItAsksForOrItsNamespaceEnforces(t *testing.T) {
	const restricted = common.SecurityProfileRestricted
	for _, test := range []struct {
		asked common.SecurityProfile
		level string
		want  common.SecurityProfile
		rules guard.Security
	}{
		{"", "", "", guard.Baseline},
		{"", "privileged", "", guard.Baseline}, // neither the spec nor the namespace requires more than Baseline
		{"", "baseline", "", guard.Baseline},
		{"", "restricted", restricted, guard.Restricted},
		{restricted, "", restricted, guard.Restricted},
		{restricted, "baseline", restricted, guard.Restricted},
	} {
		got := Profile(test.asked, enforcing(test.level))
		if rules := Secured(ensure.Child{}, got).Security; got != test.want || rules != test.rules {
			t.Errorf("profile %q in a namespace that enforces %q: expected %q and rules %q, got %q and %q", test.asked, test.level, test.want, test.rules, got, rules)
		}
	}
}

func TestOnlyAChangeOfWhatANamespaceEnforcesWakesItsApplications(t *testing.T) {
	relabelled := enforcing("baseline")
	relabelled.Labels["team"] = "shop"
	for name, test := range map[string]struct {
		now  *corev1.Namespace
		want bool
	}{
		"another level": {enforcing("restricted"), true}, "no level": {enforcing(""), true}, "another label": {relabelled, false},
	} {
		if got := EnforcementChanged.Update(ctrlevent.UpdateEvent{ObjectOld: enforcing("baseline"), ObjectNew: test.now}); got != test.want {
			t.Errorf("%s: expected it to wake them: %t", name, test.want)
		}
	}
}
