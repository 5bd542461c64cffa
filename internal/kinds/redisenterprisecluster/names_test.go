// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/tuning"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

// The operator's own Secret must not be used as the users' Secret. Otherwise users and the operator would log in with
// the same password.
func TestTheOperatorsOwnSecretIsNotForUsers(t *testing.T) {
	s := running(3)
	before := tuning.For(s.Cluster, s.credentials)
	clustertest.With("clusterCredentialSecretName: example-system")(s.Cluster)
	var secrets []string
	for _, child := range s.plan().Children {
		if secret, ok := child.Object.(*corev1ac.SecretApplyConfiguration); ok {
			secrets = append(secrets, *secret.Name)
		}
	}
	if !slices.Equal(secrets, []string{"example-system"}) {
		t.Errorf("expected the operator's Secret alone to be declared, got %v", secrets)
	}
	if got := s.accepted(); !slices.Equal(got, []string{desired.Hash("secret")}) {
		t.Errorf("expected the users' password to stay the one that it is, got %v", got)
	}
	if got := tuning.For(s.Cluster, s.credentials); len(got.Commands) > 0 {
		t.Errorf("expected servers to go on with %v, got %v", before.Commands, got.Commands)
	}
	if got := conditionText(s.report().Status.Conditions, "UpToDate"); !strings.HasPrefix(got, "False InvalidSpec: clusterCredentialSecretName: example-system is the operator's own Secret") {
		t.Errorf("expected a report of what to write, got %s", got)
	}
}

func TestASecretThatIsInTheWayMayBeUsed(t *testing.T) {
	const remedy = "; to let users log in with this Secret, set clusterCredentialSecretName: example"
	for kind, want := range map[string]string{"Secret": "it is Helm's" + remedy, "Service": "it is Helm's"} {
		s := running(3)
		taken := ensure.Result{Action: ensure.Taken, Message: "it is Helm's", Ref: ensure.Ref{
			GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: kind}, ObjectKey: client.ObjectKeyFromObject(s.Cluster),
		}}
		reportAt(s.Cluster, s.look(), kit.Outcome{Results: []ensure.Result{taken}}, clustertest.Noon)
		if got := conditionText(s.Status.Conditions, "Ready"); got != "False NameTaken: "+want {
			t.Errorf("%s: expected %q, got %q", kind, want, got)
		}
	}
}
