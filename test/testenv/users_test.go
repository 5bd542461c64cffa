// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/failing"
)

func TestAServiceAccountMayDoWhatItsRoleSaysAndNoMore(t *testing.T) {
	env.Apply(t, "test/testenv/testdata/reader.yaml")
	user := testenv.ServiceAccountUser("testenv-reader", "reader")
	for name, config := range map[string]*rest.Config{
		"impersonated": env.ConfigAs(user),
		"by its token": env.TokenConfig(t, "testenv-reader", "reader"),
	} {
		t.Run(name, func(t *testing.T) {
			c := env.ClientFor(t, config)
			mark := env.Audit.Mark(t)
			if err := c.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace("testenv-reader")); err != nil {
				t.Errorf("the role allows to list ConfigMaps: %v", err)
			}
			if err := c.Create(t.Context(), configMap("testenv-reader", "forbidden")); !apierrors.IsForbidden(err) {
				t.Errorf("creating a ConfigMap should be forbidden, got %v", err)
			}
			refused := env.Audit.Since(t, mark).By(user).Refused()
			if len(refused) != 1 || len(refused.Verb("create").On("configmaps")) != 1 {
				t.Errorf("refused should be one creation, got:\n%s", refused)
			}
		})
	}
}

func TestApplyRefusesAnUnknownField(t *testing.T) {
	complaint := failing.Message(t, func(t testing.TB) { env.Apply(t, "test/testenv/testdata/typo.yaml") })
	if !strings.Contains(complaint, "applying ConfigMap default/typo") || !strings.Contains(complaint, "dta") {
		t.Errorf("a misspelt field should be refused by name, got %q", complaint)
	}
}

func TestApplyNamesAFileThatIsMissing(t *testing.T) {
	complaint := failing.Message(t, func(t testing.TB) { env.Apply(t, "test/testenv/testdata/missing.yaml") })
	if !strings.Contains(complaint, "missing.yaml") {
		t.Errorf("the missing file should be named, got %q", complaint)
	}
}
