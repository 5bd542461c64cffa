// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"context"
	"errors"
	"testing"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// blind returns a reconciler whose reads from the API server fail, while reads from the cache succeed.
func blind() *reconciler {
	live := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("the server is busy")
		},
	}).Build()
	return &reconciler{Tools: &kit.Tools{Live: live}, classes: workload.Classes{Live: live, Clock: clock.RealClock{}}}
}

// Some reads, such as those of the user's Secret, are optional. If they fail, opcrew must still scale client pods and
// roll back a bad image.
func TestWhatCannotBeReadOfTheUsersStopsNothingElse(t *testing.T) {
	d := newDiva(3, func(d *opsv1.Diva) {
		d.Spec.SSH = &opsv1.SSH{SecretRef: &opsv1.SecretRef{Name: "mine"}}
		d.Spec.Client.Storage.Size = "3Gi"
	})
	f := observed(t, newDiva(2), settled(t))
	f.given = blind().observeGiven(t.Context(), d)
	blind().observeClasses(t.Context(), d, &f)
	same(t, "reason", common.ReasonReadFailed, f.given.Problem.Reason)
	says(t, f.given.Problem.Message, "Secret mine cannot be read: the server is busy")
	says(t, f.rigid["longhorn"], "opcrew cannot read whether StorageClass longhorn lets volumes grow: the server is busy")
	plan := planned(d, f)
	same(t, "clients", int32(3), *setOf(t, plan).Spec.Replicas)
	same(t, "patches", 0, len(plan.Patches))
	same(t, "the next look", waitInterval, plan.Again)
}
