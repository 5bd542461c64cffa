// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// asEarlier changes the Secret and the StatefulSet to those of an earlier version of opcrew, whose client pods mount
// the login key pair and share a host key. The operator must not be running.
func (s *shop) asEarlier(host *keys.Pair) {
	s.Helper()
	secret := s.secret()
	secret.Data["authorizedKeys"] = s.serverSecret().Data["authorizedKeys"]
	secret.Data["hostKey"], secret.Data["hostPublicKey"] = host.Private, []byte(host.Public+"\n")
	delete(secret.Data, "hostSeed")
	if err := env.Client.Update(s.Context(), secret, client.FieldOwner("opcrew")); err != nil {
		s.Fatal(err)
	}
	set := &appsv1.StatefulSet{}
	s.read("ops-client", set)
	for i, v := range set.Spec.Template.Spec.Volumes {
		if v.Name == "ssh-source" {
			set.Spec.Template.Spec.Volumes[i].Secret = &corev1.SecretVolumeSource{SecretName: "ops-ssh", Optional: new(true), DefaultMode: v.Secret.DefaultMode, Items: []corev1.KeyToPath{
				{Key: "authorizedKeys", Path: "authorized_keys"}, {Key: "hostKey", Path: "ssh_host_ed25519_key"}, {Key: "hostPublicKey", Path: "ssh_host_ed25519_key.pub"},
			}}
		}
	}
	// The annotation has two parts. The first part, a hash of the settings, stays the same. The test changes the second
	// part, a hash of the pod template, as if another version of opcrew had created the template.
	settings, _, _ := strings.Cut(set.Annotations[common.PinnedAnnotation], ".")
	set.Annotations[common.PinnedAnnotation] = settings + ".earlier"
	set.ManagedFields, set.ResourceVersion, set.Status = nil, "", appsv1.StatefulSetStatus{}
	set.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(set)
	if err != nil {
		s.Fatal(err)
	}
	object := client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: content})
	if err := env.Client.Apply(s.Context(), object, client.FieldOwner("opcrew"), client.ForceOwnership); err != nil {
		s.Fatal(err)
	}
	s.awaitMounts("ops-ssh", 2)
	if err := env.Client.Delete(s.Context(), s.serverSecret()); err != nil {
		s.Fatal(err)
	}
}

// awaitMounts waits until exactly n client pods run and all of them mount the Secret.
func (s *shop) awaitMounts(secret string, n int) {
	s.Helper()
	operator.Until(s.T, fmt.Sprintf("%d clients mount %s", n, secret), func() error {
		pods := s.pods("client")
		for _, pod := range pods {
			if !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "ssh-source" && v.Secret.SecretName == secret }) {
				return fmt.Errorf("%s does not", pod.Name)
			}
		}
		if len(pods) != n {
			return fmt.Errorf("%d clients run", len(pods))
		}
		return nil
	})
}

func TestAnUpgradeRestartsNoClientAndTheNextRollOutTakesTheKeysFromThem(t *testing.T) {
	s := newShop(t)
	s.create(2)
	s.awaitReady(2)
	s.operator.Stop()
	host, err := keys.New("shared")
	if err != nil {
		t.Fatal(err)
	}
	s.asEarlier(host)
	s.bringTo("client")
	s.bringTo("manager")
	before := s.uids("client")

	s.operator.Start()
	s.await(opsv1.DivaKeyWarning, "True ClientsHoldKey", "have the manager's private key")
	old := s.awaitReady(2).Status.SSH.Fingerprint
	if got := s.uids("client"); !slices.Equal(got, before) {
		t.Errorf("expected an upgrade to restart no client, got %v instead of %v", got, before)
	}
	if got := string(s.secret().Data["knownHosts"]); !contains(got, host.Public) {
		t.Errorf("expected the manager to know earlier clients by %s, got %s", host.Public, got)
	}

	s.edit(func(d *opsv1.Diva) {
		d.Spec.Client.Pod = &common.PodOverride{Annotations: map[string]string{"example.com/rolled": "out"}}
	})
	s.awaitMounts("ops-sshd", 2)
	s.awaitPhase(opsv1.SSHAuthorizing)
	if got := string(s.secret().Data["knownHosts"]) + string(s.secret().Data["hostKey"]); contains(got, host.Public) {
		t.Errorf("expected the manager to know the shared host key no more, got %s", got)
	}
	s.bringTo("client")
	s.awaitPhase(opsv1.SSHSwitching)
	s.bringTo("manager")
	s.canLogIn("the manager has followed")
	s.awaitPhase(opsv1.SSHRetiring)
	s.bringTo("client")
	d := s.awaitPhase(opsv1.SSHInUse)
	if d.Status.SSH.Fingerprint == old || d.Status.SSH.HostKey != "" {
		t.Errorf("expected a key that no client had, got %+v", d.Status.SSH)
	}
	operator.Until(t, "there is no warning about keys", func() error {
		if c := meta.FindStatusCondition(s.get().Status.Conditions, opsv1.DivaKeyWarning); c != nil {
			return fmt.Errorf("it says %s", c.Message)
		}
		return nil
	})
}
