// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// ownedBy is the reference of a MachineConfig that a pool controls.
func ownedBy(p *mcfgv1.MachineConfigPool) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(p, mcfgv1.GroupVersion.WithKind("MachineConfigPool"))}
}

func TestAMachineConfigNeitherBecomesNorCeasesToBeASourceWithoutTheRight(t *testing.T) {
	env.Deployed(t)
	user := author(t, "rita", "other")
	copied, rendered := newConfig("mine", "00-mine", "x"), newConfig("mine", "rendered-mine", "x")
	copied.Annotations = map[string]string{mcfgv1.GeneratedByAnnotation: "4.20"}
	create(t, newPool("mine"), copied)
	rendered.OwnerReferences = ownedBy(pool(t, "mine"))
	create(t, rendered)
	if err := user.Delete(t.Context(), copied, client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("expected rita not to be able to delete a copied MachineConfig, got %v", err)
	}
	if err := user.Delete(t.Context(), rendered, client.DryRunAll); err != nil {
		t.Errorf("expected a rendered MachineConfig to have no protection, got %v", err)
	}
	uid := pool(t, "mine").UID
	hide := fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"machineconfiguration.openshift.io/v1","kind":"MachineConfigPool","name":"mine","uid":%q,"controller":true}]}}`, uid)
	if _, err := change(t, user, copied, hide); !apierrors.IsForbidden(err) {
		t.Errorf("expected rita not to be able to hide a MachineConfig from its pool, got %v", err)
	}
	if _, err := change(t, user, rendered, `{"metadata":{"ownerReferences":null}}`); !apierrors.IsForbidden(err) {
		t.Errorf("expected rita not to be able to make a rendered MachineConfig a source, got %v", err)
	}
}

func TestAPoolCanBeDeletedWithoutItsRenderedMachineConfigs(t *testing.T) {
	env.Deployed(t)
	p, rendered := newPool("orphaned"), newConfig("orphaned", "rendered-orphaned", "x")
	if err := env.Client.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	rendered.OwnerReferences = ownedBy(p)
	create(t, rendered)
	if err := env.Client.Delete(context.WithoutCancel(t.Context()), p, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		t.Fatal(err)
	}
	operator.Until(t, "the garbage collector releases the MachineConfig, and the pool is gone", func() error {
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(p), &mcfgv1.MachineConfigPool{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("pool: %w", err)
		}
		err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(rendered), rendered)
		if err == nil && len(rendered.OwnerReferences) > 0 {
			err = fmt.Errorf("it is still owned")
		}
		return err
	})
}
