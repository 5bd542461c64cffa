// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// enforce makes the namespace admit only pods of a Pod Security Standard.
func (s *shop) enforce(level string) {
	s.Helper()
	ns := &corev1.Namespace{}
	ns.Name = s.ns
	patch := fmt.Sprintf(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":%q}}}`, level)
	if err := env.Client.Patch(s.Context(), ns, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		s.Fatal(err)
	}
}

// awaitPods waits until the given number of pods run. If restricted is true, all of them must meet the restricted Pod
// Security Standard; otherwise none of them may.
func (s *shop) awaitPods(size int, restricted bool) {
	s.Helper()
	operator.Until(s.T, fmt.Sprintf("%d pods run, restricted: %t", size, restricted), func() error {
		pods := &corev1.PodList{}
		if err := env.Client.List(s.Context(), pods, client.InNamespace(s.ns), client.MatchingLabels{"app": s.name}); err != nil {
			return err
		}
		for i := range pods.Items {
			nonRoot := pods.Items[i].Spec.SecurityContext.RunAsNonRoot
			if (nonRoot != nil && *nonRoot) != restricted {
				return errors.New(pods.Items[i].Name + " has another profile")
			}
		}
		if len(pods.Items) != size {
			return fmt.Errorf("%d run", len(pods.Items))
		}
		return nil
	})
}

func TestPodsAreAdmittedInANamespaceThatEnforcesRestricted(t *testing.T) {
	s := newShop(t)
	s.enforce("restricted")
	s.create(2)
	s.awaitReady(2)
	s.awaitPods(2, true)
}

func TestPodsFollowWhatTheNamespaceEnforcesAndWhatIsAskedFor(t *testing.T) {
	s := newShop(t)
	s.create(1)
	s.awaitReady(1)
	s.awaitPods(1, false)
	s.enforce("restricted")
	s.awaitPods(1, true)
	s.enforce("baseline")
	s.awaitPods(1, false)
	s.edit(func(a *appv1.AppService) { a.Spec.SecurityProfile = common.SecurityProfileRestricted })
	s.awaitPods(1, true)
	s.awaitReady(1)
}
