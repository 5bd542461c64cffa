// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
)

var someTime = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

type option func(*customv1.MicroServiceDeploy)

func newInstance(options ...option) *customv1.MicroServiceDeploy {
	m := &customv1.MicroServiceDeploy{}
	m.Namespace, m.Name, m.UID, m.Generation = "shop", "web", "uid-of-web", 1
	m.CreationTimestamp = metav1.NewTime(someTime)
	m.Spec.MsName, m.Spec.Image = "web", "nginx:1.26"
	for _, option := range options {
		option(m)
	}
	return m
}

func needsAuth(m *customv1.MicroServiceDeploy) { m.Spec.NeedAuth = true }

func ownAuth(m *customv1.MicroServiceDeploy) {
	m.Spec.NeedAuth, m.Spec.Auth = true, &customv1.Auth{SecretRef: customv1.SecretRef{Name: "users"}}
}

func withQuota(mode customv1.QuotaMode) option {
	return func(m *customv1.MicroServiceDeploy) { m.Spec.Quota = mode }
}

func of(name string) option {
	return func(m *customv1.MicroServiceDeploy) { m.Name, m.UID = name, types.UID("uid-of-"+name) }
}

// same fails the test if two values differ. what describes the values in the failure message.
func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: not as expected (-expected +found):\n%s", what, diff)
	}
}
