// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kinds/diva/storage"
	"github.com/opcrew/opcrew/internal/kit"
)

func deleting(d *opsv1.Diva) { d.Spec.DeletionPolicy = opsv1.DeletionDelete }

func ownedBy(name string, owners ...metav1.OwnerReference) factOption {
	return func(f *facts) { f.claims[name].OwnerReferences = owners }
}

func TestClaimsOfClientsAreOwnedWhileTheDataGoesWithTheObject(t *testing.T) {
	own := metav1.OwnerReference{APIVersion: "ops.xx.com/v1", Kind: "Diva", Name: "ops", UID: "uid-of-ops"}
	earlier := metav1.OwnerReference{APIVersion: "ops.xx.com/v1", Kind: "Diva", Name: "ops", UID: "uid-of-an-earlier-one"}
	set := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "ops-client", UID: "uid-of-set"}
	other := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "theirs", UID: "uid-of-theirs"}
	const put, all = `{"apiVersion":"ops.xx.com/v1","kind":"Diva","name":"ops","uid":"uid-of-ops"}`, `"path":"/metadata/ownerReferences","value":`
	const theirs = `{"apiVersion":"v1","kind":"ConfigMap","name":"theirs","uid":"uid-of-theirs"}`
	for what, test := range map[string]struct {
		option divaOption
		owners []metav1.OwnerReference
		want   string // suffix of the expected patch
	}{
		"kept, of no one":                     {nil, nil, ""},
		"kept, of another":                    {nil, []metav1.OwnerReference{other}, ""},
		"kept from now on":                    {nil, []metav1.OwnerReference{own}, `{"op":"replace",` + all + `[]}]`},
		"kept, and not of a StatefulSet":      {nil, []metav1.OwnerReference{set, other}, `{"op":"replace",` + all + `[` + theirs + `]}]`},
		"to go, of no one":                    {deleting, nil, `{"op":"test",` + all + `null},{"op":"add",` + all + `[` + put + `]}]`},
		"to go, and ours":                     {deleting, []metav1.OwnerReference{own}, ""},
		"to go, of another too":               {deleting, []metav1.OwnerReference{other}, `{"op":"replace",` + all + `[` + theirs + `,` + put + `]}]`},
		"on its way with an earlier Diva":     {deleting, []metav1.OwnerReference{earlier}, ""},
		"on its way and to be kept otherwise": {nil, []metav1.OwnerReference{earlier}, ""},
	} {
		d := newDiva(1, func(*opsv1.Diva) {})
		if test.option != nil {
			test.option(d)
		}
		f := observed(t, d, settled(t), ownedBy("wi-ops-client-0", test.owners...))
		got := ""
		for _, patch := range planned(d, f).Patches {
			got += string(patch.Data)
		}
		if got == "" || test.want == "" {
			same(t, what, test.want, got)
		}
		says(t, got, test.want)
	}
}

func TestAClaimIsPatchedOnceWhateverTheCacheHas(t *testing.T) {
	d := newDiva(1, deleting, func(d *opsv1.Diva) { d.Spec.Client.Storage.Size = "3Gi" })
	f := observed(t, newDiva(1), settled(t))
	same(t, "patches", 2, len(planned(d, f).Patches))
	f.stale = map[string]bool{"wi-ops-client-0": true}
	same(t, "patches of what the cache is behind of", 0, len(planned(d, f).Patches))
}

func TestAClaimThatLostOurLabelsGetsThemBackUnlessItIsAnotherOwners(t *testing.T) {
	d := newDiva(1)
	for what, test := range map[string]struct {
		labels  map[string]string
		patches int
	}{
		"all":            {names.Selector(d), 0},
		"none":           {nil, 1},
		"others":         {map[string]string{"team": "shop"}, 1},
		"some":           {map[string]string{names.InstanceLabel: "ops"}, 1},
		"another's":      {map[string]string{"app.kubernetes.io/managed-by": "Helm"}, 0},
		"of another one": {map[string]string{names.InstanceLabel: "theirs"}, 0},
	} {
		f := observed(t, d, settled(t), func(f *facts) { f.claims["wi-ops-client-0"].Labels = test.labels })
		patches := planned(d, f).Patches
		same(t, what, test.patches, len(patches))
		if len(patches) > 0 {
			says(t, string(patches[0].Data), `"path":"/metadata/labels"`, `"app.kubernetes.io/managed-by":"opcrew"`, `"diva-client":"ops"`)
		}
		for key, value := range test.labels {
			if len(patches) > 0 {
				says(t, string(patches[0].Data), `"`+key+`":"`+value+`"`)
			}
		}
	}
}

func TestAClaimThatTheCacheDoesNotHaveIsReadWhereAClientRunsWithIt(t *testing.T) {
	d := newDiva(2)
	claim := newClaim(storage.Expected{Name: "wi-ops-client-0", Storage: d.Spec.Client.Storage})
	claim.Namespace, claim.Labels = d.Namespace, nil
	r := &reconciler{Tools: &kit.Tools{Live: fake.NewClientBuilder().WithObjects(claim).Build()}}
	f := observed(t, d, settled(t))
	for _, name := range []string{"wi-ops-client-0", "wi-ops-client-1"} {
		delete(f.claims, name)
	}
	r.observeUnlabelled(t.Context(), d, &f)
	if f.claims["wi-ops-client-0"] == nil || f.claims["wi-ops-client-1"] != nil {
		t.Errorf("expected the claim that is there alone, got %v", f.claims)
	}
	same(t, "patches", 1, len(planned(d, f).Patches))
}
