// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"errors"
	"fmt"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
)

// trustTime is more than the age that a policy must have before opcrew trusts the requesters that it records.
const trustTime = 12 * time.Second

// TrustsRequesters waits until the API server records who set the commands of a trial object, which is not kept, and
// until the operator trusts such records.
func (s *Suite) TrustsRequesters(t *testing.T, trial client.Object) {
	t.Helper()
	Until(t, "the API server records requesters", func() error {
		try := trial.DeepCopyObject().(client.Object)
		err := s.Client.Create(t.Context(), try, client.DryRunAll)
		if err == nil && try.GetAnnotations()[common.RequesterAnnotation] == "" {
			err = errors.New("there is no requester")
		}
		return err
	})
	s.PolicyAges(t)
}

// PolicyAges waits until the policy about the rights of Activities has been in force long enough that the operator trusts
// the requesters of new objects.
func (s *Suite) PolicyAges(t *testing.T) {
	t.Helper()
	Until(t, "the policies have been in force for a while", func() error {
		binding := &admissionv1.ValidatingAdmissionPolicyBinding{}
		err := s.Client.Get(t.Context(), client.ObjectKey{Name: "opcrew-activity-rights"}, binding)
		if age := time.Since(binding.CreationTimestamp.Time); err == nil && age < trustTime {
			err = fmt.Errorf("for %s", age)
		}
		return err
	})
}
