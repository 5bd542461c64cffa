// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func TestAUserCannotWriteTheConfigurationOfAPool(t *testing.T) {
	env.Deployed(t)
	exported := newPool("exported")
	exported.Spec.Configuration.Name = "rendered-exported-0123"
	create(t, exported)
	if name := pool(t, "exported").Spec.Configuration.Name; name != "" {
		t.Errorf("expected a new pool to have no configuration, got %s", name)
	}
	deployed := env.ClientFor(t, env.ConfigAs(env.User))
	operators := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"configuration":{"name":"rendered-exported-1","source":[{"name":"50-a"}]}}}`))
	if err := deployed.Patch(t.Context(), pool(t, "exported"), operators); err != nil {
		t.Fatal(err)
	}
	for what, patch := range map[string]string{
		"names another": `{"spec":{"paused":true,"configuration":{"name":"rendered-exported-2"}}}`,
		"has no source": `{"spec":{"paused":true,"configuration":{"source":null}}}`,
		"has none":      `{"spec":{"paused":true,"configuration":null}}`,
	} {
		after, err := change(t, env.Client, pool(t, "exported"), patch)
		if c := after.Spec.Configuration; err != nil || !after.Spec.Paused || c.Name != "rendered-exported-1" || len(c.Source) != 1 {
			t.Errorf("expected a manifest that %s to be applied without its configuration, got %+v (%v)", what, after.Spec, err)
		}
	}
}

func TestWithoutTheMutatingPolicyAUserWhoWritesTheConfigurationOfAPoolIsRefused(t *testing.T) {
	env.Deployed(t)
	records := func(wanted bool) func() error {
		return func() error {
			trial := newPool("trial")
			if err := env.Client.Create(t.Context(), trial, client.DryRunAll); err != nil || (trial.Annotations[common.RequesterAnnotation] != "") != wanted {
				return fmt.Errorf("expected a record: %t, got %v (%w)", wanted, trial.Annotations, err)
			}
			return nil
		}
	}
	bind := env.Unbind(t, &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "opcrew-machineconfig-requester"}})
	operator.Until(t, "no policy records requesters", records(false))
	exported := newPool("refused")
	exported.Spec.Configuration.Name = "rendered-refused-0123"
	if err := env.Client.Create(t.Context(), exported, client.DryRunAll); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "leave the field out") {
		t.Errorf("expected a pool with a configuration to be refused, got %v", err)
	}
	bind()
	operator.Until(t, "a policy records requesters", records(true))
}
