// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build fields

package fields

import (
	"errors"
	"fmt"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// prepare creates the cluster-scoped objects that rows of the test table refer to, such as the StorageClass longhorn.
// Then it waits until the operator can run Activities.
func prepare(t *testing.T) {
	t.Helper()
	class := &storagev1.StorageClass{Provisioner: testenv.VolumeProvisioner, AllowVolumeExpansion: new(true)}
	class.Name = "longhorn"
	priority := &schedulingv1.PriorityClass{Value: 7}
	priority.Name = "urgent"
	runtime := &nodev1.RuntimeClass{Handler: "runc"}
	runtime.Name = "sandbox"
	for _, object := range []client.Object{class, priority, runtime} {
		if err := env.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	policiesWork(t)
}

// policiesWork waits long enough to be sure that the API server applies the admission policies of Activities.
func policiesWork(t *testing.T) {
	t.Helper()
	operator.Until(t, "the API server has recorded the requesters of Activities for a while", func() error {
		probe := &egov1.Activity{}
		probe.Namespace, probe.Name, probe.Spec.Command, probe.Spec.Host = "default", "probe", "true", "fields-0"
		if err := env.Client.Create(t.Context(), probe, client.DryRunAll); err != nil {
			return err
		}
		if probe.Spec.Requester == nil {
			return errors.New("spec.requester is empty")
		}
		binding := &admissionv1.ValidatingAdmissionPolicyBinding{}
		if err := env.Client.Get(t.Context(), key("", "opcrew-activity-rights"), binding); err != nil {
			return err
		}
		if age := time.Since(binding.CreationTimestamp.Time); age < 12*time.Second {
			return fmt.Errorf("for %s", age)
		}
		return nil
	})
}
