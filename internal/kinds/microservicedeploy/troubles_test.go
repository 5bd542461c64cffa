// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func result(kind, name string, action ensure.Action) ensure.Result {
	return ensure.Result{
		Ref:    ensure.Ref{GroupVersionKind: corev1.SchemeGroupVersion.WithKind(kind), ObjectKey: client.ObjectKey{Namespace: "shop", Name: name}},
		Action: action, Message: name + " is somebody else's",
	}
}

func TestWhatBecameOfATenantsObjectsIsToldToItsInstancesOnce(t *testing.T) {
	fine := kit.Outcome{Results: []ensure.Result{result("ResourceQuota", byNamespace.name, ensure.Unchanged)}}
	for name, test := range map[string]struct {
		done          kit.Outcome
		reason, words string
	}{
		"a failure":                 {kit.Outcome{Err: errors.New("no")}, "Applying", "no"},
		"a quota of that name":      {kit.Outcome{Results: []ensure.Result{result("ResourceQuota", byNamespace.name, ensure.Taken)}}, "NameTaken", "opcrew-microservices is somebody else's"},
		"credentials of the tenant": {kit.Outcome{Results: []ensure.Result{result("Secret", tenantAuth, ensure.Taken)}}, "", ""},
		"nothing at all":            {kit.Outcome{}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			all := newTroubles()
			all.carriedOut("shop", fine)
			if len(all.wake) != 0 || all.of("shop") != (obstacle{}) {
				t.Fatalf("expected nobody to be woken where all is well, got %+v", all.of("shop"))
			}
			for range 2 {
				all.carriedOut("shop", test.done)
			}
			if got := all.of("shop"); got.reason != test.reason || got.message != test.words {
				t.Errorf("expected %q %q, got %+v", test.reason, test.words, got)
			}
			if want := min(len(test.reason), 1); len(all.wake) != want {
				t.Errorf("expected the instances to be woken %d times, got %d", want, len(all.wake))
			}
			all.carriedOut("shop", fine)
			if got := all.of("shop"); got != (obstacle{}) {
				t.Errorf("expected it to be over, got %+v", got)
			}
		})
	}
}

func TestATenantThatIsForgottenHasNoTroubleLeft(t *testing.T) {
	all := newTroubles()
	all.unread("shop", errors.New("no answer"))
	if got := all.of("shop"); got.message != "no answer" {
		t.Errorf("expected that it could not be read, got %+v", got)
	}
	if all.forget("shop"); len(all.byTenant) > 0 || all.of("shop") != (obstacle{}) {
		t.Error("expected nothing to be kept of it")
	}
}

func TestNobodyWaitsWhereVeryManyTenantsHaveNews(t *testing.T) {
	all := newTroubles()
	for i := range 2 * cap(all.wake) {
		all.unread(string(rune('a'+i)), errors.New("no answer"))
	}
	if len(all.wake) != cap(all.wake) {
		t.Errorf("expected the channel to be full, got %d of %d", len(all.wake), cap(all.wake))
	}
}
