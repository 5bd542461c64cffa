// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
)

func TestWhoseTheUsersSecretIs(t *testing.T) {
	owner := func(uid types.UID) func(*corev1.Secret) {
		return func(s *corev1.Secret) {
			is := true
			s.OwnerReferences = []metav1.OwnerReference{{Kind: "ExternalSecret", UID: uid, Controller: &is}}
		}
	}
	labelled := func(s *corev1.Secret) { s.Labels = map[string]string{common.OwnerLabel: "u-1"} }
	const ours, theirs, unused = "ours", "theirs", "not to be used"
	for name, test := range map[string]struct {
		secret         func(*corev1.Secret)
		plain, spelled string // the expected result if the spec does not name the Secret, and if it does
	}{
		"made for this cluster":              {owner("u-1"), ours, ours},
		"made for it, without its reference": {labelled, ours, theirs},
		"it has no owner":                    {func(*corev1.Secret) {}, unused, theirs},
		"it has another owner":               {owner("u-2"), unused, theirs},
	} {
		for want, c := range map[string]*clustertest.Cluster{"plain " + test.plain: clustertest.New(), "spelled " + test.spelled: clustertest.New(clustertest.With("clusterCredentialSecretName: example"))} {
			secret := &corev1.Secret{}
			secret.Namespace, secret.Name = c.Namespace, c.Name
			test.secret(secret)
			store := fake.NewClientBuilder().WithObjects(secret).Build()
			found, err := Reader{Cached: store, Live: store}.Credentials(t.Context(), c)
			got := ours
			switch {
			case found.Users == nil:
				got = unused
			case found.External:
				got = theirs
			}
			if err != nil || !strings.HasSuffix(want, " "+got) {
				t.Errorf("%s: expected %s, got %s, error %v", name, want, got, err)
			}
		}
	}
}

func TestTheSystemsPasswordIsReadAlsoWhereItsSecretLostItsOwnerReference(t *testing.T) {
	c, secret := clustertest.New(), &corev1.Secret{}
	secret.Namespace, secret.Name, secret.Labels = c.Namespace, desired.SystemSecret(c), map[string]string{common.OwnerLabel: "u-1"}
	secret.Data = map[string][]byte{passwordKey: []byte("inner")}
	store := fake.NewClientBuilder().WithObjects(secret).Build()
	found, err := Reader{Cached: store, Live: store}.Credentials(t.Context(), c)
	if err != nil || found.SystemPassword() != "inner" {
		t.Errorf("expected the password that servers know, got %q, error %v", found.SystemPassword(), err)
	}
}
