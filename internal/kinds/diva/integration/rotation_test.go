// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// awaitPhase waits until the change of the key pair has reached a phase.
func (s *shop) awaitPhase(phase opsv1.SSHPhase) *opsv1.Diva {
	s.Helper()
	var d *opsv1.Diva
	operator.Until(s.T, "the phase is "+string(phase), func() error {
		if d = s.get(); d.Status.SSH == nil || d.Status.SSH.Phase != phase {
			return fmt.Errorf("it is %+v", d.Status.SSH)
		}
		return nil
	})
	return d
}

// staysIn checks that a key change stays in a phase until the pods on which this phase depends serve the new files.
func (s *shop) staysIn(phase opsv1.SSHPhase) {
	s.Helper()
	version, asked := s.secret().ResourceVersion, agents.questions()
	operator.Until(s.T, "the operator asks again", func() error {
		if agents.questions() == asked {
			return errors.New("it has not yet")
		}
		return nil
	})
	env.Settled(s.T, env.Audit.Mark(s.T))
	if d := s.get(); d.Status.SSH.Phase != phase || s.secret().ResourceVersion != version {
		s.Errorf("expected %s for as long as pods have not followed, got %s", phase, d.Status.SSH.Phase)
	}
}

// canLogIn checks that every client pod accepts every key of every manager pod.
func (s *shop) canLogIn(when string) {
	s.Helper()
	for _, manager := range s.pods("manager") {
		var keys []string
		for _, file := range []string{"identity", "identity-next"} {
			signer, err := ssh.ParsePrivateKey([]byte(s.serves(manager, file)))
			if err != nil {
				s.Fatalf("%s: %s has no key: %v", when, manager.Name, err)
			}
			keys = append(keys, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))))
		}
		for _, c := range s.pods("client") {
			letIn := func(key string) bool { return strings.Contains(s.serves(c, "authorized_keys"), key) }
			if !slices.ContainsFunc(keys, letIn) {
				s.Errorf("%s: %s refuses the keys of %s", when, c.Name, manager.Name)
			}
			if host := strings.TrimSpace(s.serves(c, "ssh_host_ed25519_key.pub")); !strings.Contains(s.serves(manager, "known_hosts"), host) {
				s.Errorf("%s: %s does not know %s", when, manager.Name, c.Name)
			}
		}
	}
}

func TestARotationRefusesNoLoginAtAnyStepAndWaitsForEveryPod(t *testing.T) {
	s := newShop(t)
	s.create(3)
	old := s.awaitReady(3).Status.SSH.Fingerprint
	s.bringTo("client")
	s.bringTo("manager")
	s.canLogIn("before")

	s.edit(annotated(opsv1.RotateAnnotation, "1"))
	d := s.awaitPhase(opsv1.SSHAuthorizing)
	if d.Status.SSH.PreviousFingerprint != old || d.Status.SSH.Fingerprint == old {
		t.Errorf("expected a new key beside %s, got %+v", old, d.Status.SSH)
	}
	pods := s.pods("client")
	s.bring(&pods[0])
	s.bring(&pods[2])
	s.bringTo("manager")
	s.canLogIn("two of three clients have followed")
	s.await(opsv1.DivaSSHReady, "True Rotating", "2 of 3 clients accept the new key", "waiting for client ops-client-1")
	s.staysIn(opsv1.SSHAuthorizing)
	s.awaitReady(3)

	s.bring(&pods[1])
	s.awaitPhase(opsv1.SSHSwitching)
	s.bringTo("client")
	s.canLogIn("all clients have followed")
	s.staysIn(opsv1.SSHSwitching)

	s.bringTo("manager")
	s.canLogIn("the manager has followed")
	s.awaitPhase(opsv1.SSHRetiring)
	s.bring(&pods[0])
	s.canLogIn("a client has left the old key")
	s.bringTo("client")
	s.canLogIn("all have")
	d = s.awaitPhase(opsv1.SSHInUse)
	if d.Status.SSH.Fingerprint == old || d.Status.SSH.PreviousFingerprint != "" {
		t.Errorf("expected the new key alone, got %+v", d.Status.SSH)
	}
	s.await(opsv1.DivaSSHReady, "True KeysInPlace", d.Status.SSH.Fingerprint)
	if got := len(strings.Split(strings.TrimSpace(string(s.serverSecret().Data["authorizedKeys"])), "\n")); got != 1 {
		t.Errorf("expected clients to let in one key, got %d", got)
	}
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
}

func TestARotationGoesOnAfterARestartAndMakesNoOtherKey(t *testing.T) {
	s := newShop(t)
	s.create(1)
	s.awaitReady(1)
	s.bringTo("client")
	s.bringTo("manager")
	s.edit(annotated(opsv1.RotateAnnotation, "1"))
	key := s.awaitPhase(opsv1.SSHAuthorizing).Status.SSH.Fingerprint
	s.operator.Stop()
	s.operator.Start()
	s.bringTo("client")
	s.awaitPhase(opsv1.SSHSwitching)
	s.operator.Stop()
	s.operator.Start()
	s.bringTo("manager")
	s.awaitPhase(opsv1.SSHRetiring)
	s.operator.Stop()
	s.operator.Start()
	s.bringTo("client")
	if got := s.awaitPhase(opsv1.SSHInUse).Status.SSH.Fingerprint; got != key {
		t.Errorf("expected the key %s that the rotation began with, got %s", key, got)
	}
}

func TestASecretThatIsDeletedWhileClientsRunLocksNoOneOut(t *testing.T) {
	s := newShop(t)
	s.create(2)
	old := s.awaitReady(2).Status.SSH
	s.bringTo("client")
	s.bringTo("manager")
	known := string(s.secret().Data["knownHosts"])
	if err := env.Client.Delete(t.Context(), s.secret()); err != nil {
		t.Fatal(err)
	}
	d := s.await(opsv1.DivaReady, "False KeyLost", "Secret ops-ssh lost its SSH keys", "0 of 2 clients")
	if d.Status.SSH.PublicKey != old.PublicKey || d.Status.SSH.PreviousFingerprint != old.Fingerprint {
		t.Errorf("expected the old key to be what the manager logs in with, got %+v", d.Status.SSH)
	}
	if got := string(s.serverSecret().Data["authorizedKeys"]); !strings.Contains(got, old.PublicKey) {
		t.Errorf("expected clients to go on to let in %s, got %s", old.PublicKey, got)
	}
	if got := string(s.secret().Data["knownHosts"]); got != known {
		t.Errorf("expected the manager to go on to know clients by\n%s, got\n%s", known, got)
	}
	s.bringTo("client")
	s.awaitPhase(opsv1.SSHSwitching)
	s.bringTo("manager")
	s.canLogIn("the manager has followed")
	s.awaitPhase(opsv1.SSHRetiring)
	s.bringTo("client")
	s.canLogIn("clients have left the lost key")
	s.awaitPhase(opsv1.SSHInUse)
	s.awaitReady(2)
}

func TestAKeyOfTheUserIsTakenIntoUseAndABadOneIsNot(t *testing.T) {
	s := newShop(t)
	s.create(1)
	generated := s.awaitReady(1).Status.SSH.Fingerprint
	s.bringTo("client")
	s.bringTo("manager")

	s.edit(func(d *opsv1.Diva) { d.Spec.SSH = &opsv1.SSH{SecretRef: &opsv1.SecretRef{Name: "mine"}} })
	s.await(opsv1.DivaReady, "False KeyMissing", "Secret mine does not exist or has no private key", generated)
	mine := &corev1.Secret{}
	mine.Namespace, mine.Name = s.ns, "mine"
	mine.StringData = map[string]string{"privateKey": "not a key"}
	if err := env.Client.Create(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	s.edit(annotated("example.com/look", "1"), func(d *opsv1.Diva) { d.Spec.DeletionPolicy = opsv1.DeletionDelete })
	s.await(opsv1.DivaReady, "False KeyUnusable", "Secret mine, privateKey: the value is not a private key")

	other, err := keys.New("mine")
	if err != nil {
		t.Fatal(err)
	}
	mine.StringData = nil
	mine.Data = map[string][]byte{"ssh-privatekey": other.Private, "ssh-publickey": []byte(other.Public)}
	if err := env.Client.Update(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	s.edit(func(d *opsv1.Diva) { d.Spec.DeletionPolicy = opsv1.DeletionRetain })
	s.awaitPhase(opsv1.SSHAuthorizing)
	s.bringTo("client")
	s.awaitPhase(opsv1.SSHSwitching)
	s.bringTo("manager")
	s.awaitPhase(opsv1.SSHRetiring)
	s.bringTo("client")
	d := s.awaitPhase(opsv1.SSHInUse)
	if got, want := d.Status.SSH.PublicKey, other.Public; got != want {
		t.Errorf("expected the user's key %s, got %s", want, got)
	}
	if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(mine), mine); err != nil || len(mine.OwnerReferences) > 0 || len(mine.ManagedFields) > 2 {
		t.Errorf("expected the user's Secret to be left alone, got %v %v", mine.OwnerReferences, err)
	}
}

// opcrew reads the user's Secret once an hour. If the Secret has common.WatchLabel, opcrew reads it at once after a
// change.
func TestAFollowedKeyOfTheUserIsChangedAtOnce(t *testing.T) {
	s := newShop(t)
	s.create(1)
	s.awaitReady(1)
	mine := &corev1.Secret{}
	mine.Namespace, mine.Name, mine.Labels = s.ns, "mine", map[string]string{common.WatchLabel: "true"}
	mine.Data = map[string][]byte{"ssh-privatekey": s.secret().Data["identity"]}
	if err := env.Client.Create(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	s.edit(func(d *opsv1.Diva) { d.Spec.SSH = &opsv1.SSH{SecretRef: &opsv1.SecretRef{Name: "mine"}} })
	operator.Until(t, "the key is taken from the Secret", func() error {
		if d := s.get(); d.Status.ObservedGeneration != d.Generation {
			return fmt.Errorf("generation %d is seen, of %d", d.Status.ObservedGeneration, d.Generation)
		}
		return nil
	})
	s.awaitPhase(opsv1.SSHInUse)

	other, err := keys.New("mine")
	if err != nil {
		t.Fatal(err)
	}
	mine.Data["ssh-privatekey"] = other.Private
	if err := env.Client.Update(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	s.awaitPhase(opsv1.SSHAuthorizing)
}

func TestTheArticlesKeysAreNamedAndBlockNothing(t *testing.T) {
	s := newShop(t)
	s.create(2, func(d *opsv1.Diva) { d.Spec.PublicKey = "ssh-rsa AAAAB3NzaC1yc2EAAAA..." })
	d := s.awaitReady(2)
	s.await(opsv1.DivaKeyWarning, "True PublicKeyUnusable", "line 1 of spec.publicKey is not a public key")
	if !strings.Contains(d.Status.Message, "spec.publicKey") {
		t.Errorf("expected the message to name it, got %q", d.Status.Message)
	}
}
