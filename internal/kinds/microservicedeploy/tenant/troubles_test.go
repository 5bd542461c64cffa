// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/quota"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

func result(kind, name string, action ensure.Action) ensure.Result {
	return ensure.Result{
		Ref:    ensure.Ref{GroupVersionKind: corev1.SchemeGroupVersion.WithKind(kind), ObjectKey: client.ObjectKey{Namespace: "shop", Name: name}},
		Action: action, Message: name + " is another owner's",
	}
}

func TestWhatBecameOfATenantsObjectsReachesItsInstancesOnce(t *testing.T) {
	fine := kit.Outcome{Results: []ensure.Result{result("ResourceQuota", quota.ByNamespace.Name, ensure.Unchanged)}}
	for name, test := range map[string]struct {
		done          kit.Outcome
		reason, words string
	}{
		"a failure":                 {kit.Outcome{Err: errors.New("no")}, "Applying", "no"},
		"a quota of that name":      {kit.Outcome{Results: []ensure.Result{result("ResourceQuota", quota.ByNamespace.Name, ensure.Taken)}}, "NameTaken", "opcrew-microservices is another owner's"},
		"credentials of the tenant": {kit.Outcome{Results: []ensure.Result{result("Secret", names.TenantAuth, ensure.Taken)}}, "", ""},
		"nothing at all":            {kit.Outcome{}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			all := NewTroubles()
			all.CarriedOut("shop", fine)
			if len(all.Wake) != 0 || all.Of("shop") != (Trouble{}) {
				t.Fatalf("expected no one to be woken where all is well, got %+v", all.Of("shop"))
			}
			for range 2 {
				all.CarriedOut("shop", test.done)
			}
			if got := all.Of("shop"); got.Reason != test.reason || got.Message != test.words {
				t.Errorf("expected %q %q, got %+v", test.reason, test.words, got)
			}
			if want := min(len(test.reason), 1); len(all.Wake) != want {
				t.Errorf("expected the instances to be woken %d times, got %d", want, len(all.Wake))
			}
			all.CarriedOut("shop", fine)
			if got := all.Of("shop"); got != (Trouble{}) {
				t.Errorf("expected it to be over, got %+v", got)
			}
		})
	}
}

func TestATenantThatIsForgottenHasNoTroubleLeft(t *testing.T) {
	all := NewTroubles()
	all.unread("shop", errors.New("no answer"))
	if got := all.Of("shop"); got.Message != "no answer" {
		t.Errorf("expected that it could not be read, got %+v", got)
	}
	if all.Forget("shop"); len(all.byTenant) > 0 || all.Of("shop") != (Trouble{}) {
		t.Error("expected nothing to be kept of it")
	}
}

func TestNoOneWaitsWhereVeryManyTenantsHaveNews(t *testing.T) {
	all := NewTroubles()
	for i := range 2 * cap(all.Wake) {
		all.unread(string(rune('a'+i)), errors.New("no answer"))
	}
	if len(all.Wake) != cap(all.Wake) {
		t.Errorf("expected the channel to be full, got %d of %d", len(all.Wake), cap(all.Wake))
	}
}
