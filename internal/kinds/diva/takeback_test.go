// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kit"
)

// asksFor makes a claim request a size that its volume does not have.
func asksFor(name, amount string) factOption {
	return func(f *facts) {
		f.claims[name].Spec.Resources.Requests = corev1.ResourceList{"storage": resource.MustParse(amount)}
	}
}

// byUs marks the size requests of the named claims as written by opcrew.
func byUs(names ...string) factOption {
	return func(f *facts) {
		f.ownSizes = map[string]bool{}
		for _, name := range names {
			f.ownSizes[name] = true
		}
	}
}

func sized(size string) divaOption {
	return func(d *opsv1.Diva) {
		d.Spec.Client.Storage.Size, d.Spec.Manager.Storage.Size = size, size
	}
}

func inTemplate(amount string) factOption {
	return func(f *facts) {
		f.clients.Set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests = corev1.ResourceList{"storage": resource.MustParse(amount)}
	}
}

// All volumes in this test have a capacity of 2Gi, and the claims request more.
func TestASizeThatVolumesDidNotGetIsTakenBack(t *testing.T) {
	const client, manager = "wi-ops-client-0", "ops-manager"
	typo := []factOption{asksFor(client, "200Gi"), asksFor(manager, "200Gi"), inTemplate("200Gi")}
	for what, test := range map[string]struct {
		size     string
		options  []factOption
		client   string // size in the claim's patch, if there is one
		manager  string
		template string
	}{
		"to more than they have":      {"20Gi", append(typo, byUs(client, manager)), "20Gi", "20Gi", "20Gi"},
		"not to what they have":       {"2Gi", append(typo, byUs(client, manager)), "", "200Gi", "2Gi"},
		"not where another user asks": {"20Gi", append(typo, byUs()), "", "200Gi", "20Gi"},
		"not where they have it":      {"20Gi", []factOption{asks(client, "200Gi"), asks(manager, "200Gi"), byUs(client, manager)}, "", "200Gi", "20Gi"},
		"nothing while it is wanted":  {"200Gi", append(typo, byUs(client, manager)), "", "200Gi", "200Gi"},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDiva(1, sized(test.size))
			f := observed(t, newDiva(1), settled(t), test.options...)
			plan, patched := planned(d, f), ""
			for _, patch := range plan.Patches {
				patched = patch.Intent
			}
			same(t, "the client's claim", test.client, patched)
			same(t, "the manager's claim", test.manager, managerClaimSize(planned(d, f), manager))
			same(t, "new claims", test.template, setOf(t, plan).Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().String())
		})
	}
}

func TestTheStatusReportsDownToWhatASizeCanBeTakenBack(t *testing.T) {
	const claim = "wi-ops-client-0"
	rigid := func(f *facts) { f.rigid["longhorn"] = "it is rigid" }
	pending := func(f *facts) { f.claims[claim].Status.Phase = corev1.ClaimPending }
	for what, test := range map[string]struct {
		size    string
		options []factOption
		want    int32
	}{
		"all have it":                              {"2Gi", nil, 0},
		"one more Gi is on its way":                {"3Gi", []factOption{asksFor(claim, "3Gi")}, 0},
		"more than one":                            {"200Gi", []factOption{asksFor(claim, "200Gi")}, 3},
		"about to be asked for":                    {"200Gi", nil, 3},
		"a volume that was rounded up":             {"200Gi", []factOption{asks(claim, "2500Mi"), asksFor(claim, "200Gi")}, 3},
		"never asked for, as it cannot grow":       {"200Gi", []factOption{rigid}, 2},
		"a volume that is not there":               {"200Gi", []factOption{asksFor(claim, "200Gi"), pending}, 1},
		"a volume that is larger than is reported": {"2Gi", []factOption{asks(claim, "9Gi")}, 0},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDiva(1, func(d *opsv1.Diva) { d.Spec.Client.Storage.Size = test.size })
			reported(d, observed(t, newDiva(1), settled(t), test.options...), done)
			got := int32(0)
			if s := d.Status.Storage; s != nil && s.Least != nil {
				got = s.Least.Client
			}
			same(t, "the least size of clients", test.want, got)
		})
	}
}

func TestASizeThatCannotBeIsReportedWithTheWayBack(t *testing.T) {
	const claim = "wi-ops-client-0"
	says := func(kind corev1.PersistentVolumeClaimConditionType, is corev1.ClaimResourceStatus) factOption {
		return func(f *facts) {
			f.claims[claim].Status.Conditions = []corev1.PersistentVolumeClaimCondition{{Type: kind, Status: "True", Message: "no space left in the pool"}}
			f.claims[claim].Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{"storage": is}
		}
	}
	failing := says(corev1.PersistentVolumeClaimControllerResizeError, corev1.PersistentVolumeClaimControllerResizeInProgress)
	infeasible := says(corev1.PersistentVolumeClaimControllerResizeError, corev1.PersistentVolumeClaimControllerResizeInfeasible)
	for what, test := range map[string]struct {
		size    string
		options []factOption
		want    string
	}{
		"it is tried again":  {"200Gi", []factOption{asksFor(claim, "200Gi"), failing}, "False Growing: claim wi-ops-client-0 has 2Gi of 200Gi: no space left in the pool; you can lower spec.client.storage.size again, to 3Gi or more"},
		"it is not":          {"200Gi", []factOption{asksFor(claim, "200Gi"), infeasible}, "False CannotGrow: claim wi-ops-client-0 keeps 2Gi and cannot grow to 200Gi: no space left in the pool; you can lower spec.client.storage.size again, to 3Gi or more"},
		"taken back too far": {"2Gi", []factOption{asksFor(claim, "200Gi"), byUs(claim)}, "False CannotGrow: the volume of claim wi-ops-client-0 has 2Gi, but the claim still requests 200Gi: Kubernetes lowers a request only to a size above that of the volume; set the size in the spec to 3Gi"},
		"no volume of that size": {"2Gi", []factOption{asksFor(claim, "200Gi"), func(f *facts) { f.claims[claim].Status.Phase = corev1.ClaimPending }},
			"False ClaimsPending: 2 of 3 claims have a volume; claim wi-ops-client-0 has no volume yet, so its size of 200Gi cannot change: delete the claim, and it is recreated with 2Gi"},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDiva(1, func(d *opsv1.Diva) { d.Spec.Client.Storage.Size = test.size })
			reported(d, observed(t, newDiva(1), settled(t), test.options...), done)
			same(t, "StorageReady", test.want, conditionOf(d, opsv1.DivaStorageReady))
		})
	}
}

func TestWhoAskedForASizeIsReadWhereItIsTooLarge(t *testing.T) {
	const claim = "wi-ops-client-0"
	const size = `{"f:spec":{"f:resources":{"f:requests":{"f:storage":{}}}}}`
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
	}
	for what, test := range map[string]struct {
		entries []metav1.ManagedFieldsEntry
		amount  string
		want    bool
	}{
		"the operator":           {[]metav1.ManagedFieldsEntry{entry("opcrew", size)}, "200Gi", true},
		"another user":           {[]metav1.ManagedFieldsEntry{entry("kubectl-edit", size), entry("opcrew", `{"f:metadata":{"f:labels":{}}}`)}, "200Gi", false},
		"no one, as it has that": {[]metav1.ManagedFieldsEntry{entry("opcrew", size)}, "2Gi", false},
		"no known manager":       {nil, "200Gi", false},
	} {
		d := newDiva(1)
		f := observed(t, d, settled(t), asksFor(claim, test.amount))
		live := f.claims[claim].DeepCopy()
		live.Namespace, live.ManagedFields = d.Namespace, test.entries
		r := &reconciler{Tools: &kit.Tools{Live: fake.NewClientBuilder().WithObjects(live).WithReturnManagedFields().Build()}}
		r.observeOwnSizes(t.Context(), d, &f)
		same(t, what, test.want, f.ownSizes[claim])
	}
}
