// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
	"github.com/opcrew/opcrew/internal/kit"
)

func TestAnActivityWaitsForTheRightToReadASecretAndSaysHowToGrantIt(t *testing.T) {
	a := activitytest.New(func(a *egov1.Activity) {
		a.Spec.SecretEnvs = []egov1.SecretEnv{{Name: "TOKEN", Secret: "credentials", Key: "token"}}
	})
	for title, c := range map[string]struct {
		refusal error
		says    []string
	}{
		"not bound": {apierrors.NewForbidden(corev1.Resource("secrets"), "credentials", errors.New("no role")), []string{
			"not allowed to read Secret credentials", "kubectl create rolebinding", "--namespace chores", "--clusterrole " + secretsRole, "opcrew-system:opcrew-machines",
		}},
		"not there": {apierrors.NewNotFound(corev1.Resource("secrets"), "credentials"), []string{"the key token or its Secret credentials does not exist"}},
	} {
		t.Run(title, func(t *testing.T) {
			live := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return c.refusal
				},
			})
			r := &reconciler{Tools: &kit.Tools{Live: live}}
			_, obstacle, err := r.values(t.Context(), a)
			if err != nil || obstacle == nil || obstacle.Final {
				t.Fatalf("expected the run to wait, got %+v (%v)", obstacle, err)
			}
			for _, want := range c.says {
				if !strings.Contains(obstacle.Message, want) {
					t.Errorf("expected a message that says %q, got %q", want, obstacle.Message)
				}
			}
		})
	}
}
