// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

const auth = customv1.MicroServiceDeployAuthReady

// tenant returns the Secret with the credentials that all MicroServiceDeploys of the namespace share.
func (s *shop) tenant() *corev1.Secret {
	s.Helper()
	secret := &corev1.Secret{}
	s.named("opcrew-basic-auth").read(secret)
	return secret
}

// letIn returns the number of htpasswd lines that accept a password.
func letIn(secret *corev1.Secret, password string) int {
	n := 0
	for line := range strings.SplitSeq(string(secret.Data["htpasswd"]), "\n") {
		if _, hash, ok := strings.Cut(line, ":"); ok && bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil {
			n++
		}
	}
	return n
}

func TestTurningAuthOnAndOffLeavesTheServiceAloneAndReplacesPods(t *testing.T) {
	s := newShop(t)
	s.create(withReplicas(2))
	s.awaitReady(2)
	service := &corev1.Service{}
	s.read(service)
	version, password := service.ResourceVersion, ""
	for _, needs := range []bool{true, false, true} {
		s.edit(needAuth(needs))
		s.awaitReady(2)
		for _, pod := range s.pods() {
			if got := len(pod.Spec.Containers) == 2; got != needs {
				t.Errorf("needAuth %v: expected pods with a proxy: %v, got %v", needs, needs, got)
			}
		}
		s.settled()
		if got := s.there(&networkingv1.NetworkPolicy{}); got != needs {
			t.Errorf("needAuth %v: expected a wall: %v, got %v", needs, needs, got)
		}
		// The password must stay the same, because users still know it when the MicroServiceDeploy needs it again.
		if secret := s.tenant(); password == "" {
			password = string(secret.Data["password"])
		} else if string(secret.Data["password"]) != password {
			t.Errorf("needAuth %v: expected the tenant's password to stay", needs)
		}
	}
	if s.read(service); service.ResourceVersion != version {
		t.Errorf("expected the Service to be the same in every respect, got %+v", service.Spec)
	}
	s.await(auth, "True Credentials", "opcrew-basic-auth")
}

func TestTheTenantsCredentialsAreGeneratedOnceForAllInstances(t *testing.T) {
	s := newShop(t)
	s.create(needAuth(true))
	s.awaitReady(1)
	first := s.tenant()
	if letIn(first, string(first.Data["password"])) != 1 || string(first.Data["username"]) != "tenant" {
		t.Errorf("expected a line for user tenant and the password beside it, got %q", first.Data["htpasswd"])
	}
	other := s.named("api")
	other.create(needAuth(true))
	other.awaitReady(1)
	for range 2 {
		s.settled()
		s.operator.Stop()
		s.operator.Start()
	}
	s.edit(withImage(newImage))
	s.awaitReady(1)
	s.settled()
	if now := s.tenant(); now.ResourceVersion != first.ResourceVersion {
		t.Errorf("expected credentials to outlive restarts, another instance and a rollout unchanged, got %+v", now.ManagedFields)
	}
	other.delete()
	other.awaitNothing()
	s.settled()
	if now := s.tenant(); now.ResourceVersion != first.ResourceVersion {
		t.Error("expected credentials to stay for the instance that is left")
	}
}

func TestAnEditedPasswordIsLetInBesideTheOldOne(t *testing.T) {
	s := newShop(t)
	s.create(needAuth(true))
	s.awaitReady(1)
	old, pods := string(s.tenant().Data["password"]), s.pods()
	s.settled()
	mark := env.Audit.Mark(t)
	s.named("opcrew-basic-auth").patch(&corev1.Secret{}, `{"stringData":{"password":"new"}}`)
	operator.Until(t, "both passwords are let in", func() error {
		if secret := s.tenant(); letIn(secret, "new") != 1 || letIn(secret, old) != 1 || !strings.Contains(string(secret.Data["htpasswd"]), "# valid until ") {
			return errors.New("not both are")
		}
		return nil
	})
	if writes := childWrites(env.Settled(t, mark)); len(writes) != 1 || writes[0].Resource != "secrets" {
		t.Errorf("expected one write, of the Secret, got:\n%s", writes)
	}
	if now := s.pods(); now[0].UID != pods[0].UID {
		t.Error("expected no pod to be replaced for another password")
	}
	env.Rests(t)
	// The old password is valid for ten minutes. The test does not wait that long: it changes the expiry time in the
	// Secret to a time in the past.
	s.named("opcrew-basic-auth").patch(&corev1.Secret{}, fmt.Sprintf(`{"stringData":{"htpasswd":%q}}`,
		strings.Replace(string(s.tenant().Data["htpasswd"]), "# valid until 20", "# valid until 19", 1)))
	operator.Until(t, "the old password is let in no more", func() error {
		if secret := s.tenant(); letIn(secret, "new") != 1 || letIn(secret, old) != 0 {
			return fmt.Errorf("there is %q", secret.Data["htpasswd"])
		}
		return nil
	})
}

func TestAnInstanceCanHaveCredentialsOfItsOwn(t *testing.T) {
	s := newShop(t)
	s.create(authOf("users"))
	s.await(ready, "False NoCredentials", "Secret users does not exist", "no user can log in to new pods")
	users := &corev1.Secret{StringData: map[string]string{"htpasswd": "alice:plain"}}
	users.Name = "users"
	s.make(users)
	s.named("users").patch(&corev1.Secret{}, `{"stringData":{"htpasswd":"alice:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g="}}`)
	s.await(auth, "True Credentials", "Secret users") // opcrew reads the Secret again without a change of the spec
	s.await(ready, "True AllPodsReady")
	if s.named("opcrew-basic-auth").there(&corev1.Secret{}) {
		t.Error("expected no credentials of the tenant where no instance asks for them")
	}
}

func TestATenantMayBringItsCredentials(t *testing.T) {
	s := newShop(t)
	brought := &corev1.Secret{StringData: map[string]string{"htpasswd": "alice:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g="}}
	brought.Name = "opcrew-basic-auth"
	s.make(brought)
	s.create(needAuth(true))
	s.awaitReady(1)
	s.await(auth, "True Credentials")
	s.settled()
	if now := s.tenant(); now.ResourceVersion != brought.ResourceVersion {
		t.Errorf("expected the Secret as the tenant wrote it, got %+v", now.ManagedFields)
	}
	s.delete()
	s.awaitNothing()
	s.settled()
	if now := s.tenant(); now.UID != brought.UID {
		t.Error("expected the tenant's own Secret to stay")
	}
}
