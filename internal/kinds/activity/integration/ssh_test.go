// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

const logins = "logins"

// overSSH makes an Activity run on a machine outside the cluster.
func overSSH(address egov1.SSHAddress) option {
	return func(a *egov1.Activity) {
		a.Spec.Host, a.Spec.SSH = "db1", &egov1.SSH{Address: address, Secret: logins}
	}
}

// onMachines makes an Activity run on several machines outside the cluster.
func onMachines(names ...string) option {
	return func(a *egov1.Activity) {
		ssh := &egov1.SSHHosts{Secret: logins}
		for _, name := range names {
			ssh.Hosts = append(ssh.Hosts, egov1.SSHHost{Name: egov1.HostName(name), Address: egov1.SSHAddress(name + ".example.com:2222")})
		}
		a.Spec.Host, a.Spec.Hosts = "", &egov1.Hosts{SSH: ssh}
	}
}

// logins creates the Secret with the keys for SSH.
func (s *site) logins() {
	s.Helper()
	secret := &corev1.Secret{StringData: map[string]string{egov1.SSHPrivateKey: "private", egov1.SSHKnownHosts: "known"}}
	secret.Namespace, secret.Name = s.ns, logins
	s.made(secret)
}

func TestWhoMayRunCommandsOverSSHIsARightToTheAddress(t *testing.T) {
	s := newSite(t)
	editor := rule("activities", "*")
	s.grant("eve", editor, rule("hosts", "run"), rule("hostusers", "run-as"))
	s.grant("bob", editor, rule("sshhosts", "run", "db1.example.com", "fd00::1"))
	s.grant("ada", editor, rule("sshhosts", "run", "db1.example.com", "fd00::1"), rule("hostusers", "run-as", "root"))
	for _, c := range []struct {
		who, words string
		options    []option
	}{
		{"eve", "eve may not run commands over SSH on db1.example.com", []option{overSSH("db1.example.com")}},
		{"bob", "bob may not run commands as user root", []option{overSSH("db1.example.com")}},
		{"ada", "ada may not run commands over SSH on db2.example.com", []option{overSSH("db2.example.com:22")}},
		{"ada", "ada may not run commands over SSH on fd00::2", []option{overSSH("[fd00::2]:22")}},
		{"ada", "ada may not run commands on host " + s.hosts[0], nil},
		{"ada", "", []option{overSSH("db1.example.com:2222")}},
		{"ada", "", []option{overSSH("[fd00::1]:2222")}},
		{"ada", "", []option{overSSH("[fd00::1]")}},
	} {
		s.try(c.who+" tries", c.words, func() error {
			return s.as(c.who).Create(s.Context(), s.declared("try", "true", c.options...), client.DryRunAll)
		})
	}
}

func TestRightsToAMachineThatWereTakenSinceStopARun(t *testing.T) {
	s := newSite(t)
	s.secretsCanBeRead()
	s.logins()
	s.operator.Stop()
	revoke := s.grant("ada", rule("sshhosts", "run"), rule("hostusers", "run-as"))
	s.grant("ada", rule("activities", "*"))
	s.try("ada makes one", "", func() error {
		return s.as("ada").Create(s.Context(), s.declared("chore", "true", overSSH("db1.example.com")))
	})
	revoke()
	s.try("ada has no rights any more", "may not run", func() error {
		return s.as("ada").Create(s.Context(), s.declared("other", "true", overSSH("db1.example.com")), client.DryRunAll)
	})
	s.operator.Start()
	if n := len(s.pods(s.await("chore", egov1.StateRefused, "ada has no right to run sshhosts."+group+" db1.example.com"))); n > 0 {
		t.Errorf("expected no pod, got %d", n)
	}
}

func TestTheKeysForSSHAreOnlyForAUserWhoMayReadTheirSecret(t *testing.T) {
	s := newSite(t)
	s.grant("ada", rule("activities", "*"), rule("sshhosts", "run"), rule("hostusers", "run-as"))
	s.try("ada makes one", "", func() error {
		return s.as("ada").Create(s.Context(), s.declared("chore", "true", overSSH("db1.example.com")))
	})
	s.await("chore", egov1.StateRefused, "ada has no right to get secrets "+logins)
}

func TestTheKeysForSSHReachAPodWithoutPrivilegesAndAreTakenAwayAtTheEnd(t *testing.T) {
	s := newSite(t)
	s.secretsCanBeRead()
	s.create("chore", "sleep", overSSH("db1.example.com"))
	s.await("chore", egov1.StatePending, "the key ssh-privatekey or its Secret logins does not exist")
	s.logins()
	a := s.await("chore", egov1.StateRunning, "opcrew connects to db1 (db1.example.com) over SSH")
	kept := &corev1.Secret{}
	key := client.ObjectKey{Namespace: run.Namespace, Name: a.Status.Pod}
	if err := env.Client.Get(t.Context(), key, kept); err != nil || string(kept.Data["ssh-privatekey"]) != "private" || string(kept.Data["ssh-known-hosts"]) != "known" {
		t.Errorf("expected the keys beside the pod, got %v %v", kept.Data, err)
	}
	pod := s.pods(a)[0]
	if c := pod.Spec.Containers[0]; pod.Spec.HostPID || pod.Spec.HostNetwork || c.SecurityContext.Privileged != nil || c.Args[0] != "run-over-ssh" {
		t.Errorf("expected a pod without privileges, got %+v", pod.Spec)
	}
	s.patch("chore", `{"spec":{"cancel":true}}`)
	s.await("chore", egov1.StateCancelled)
	operator.Until(t, "the keys are taken away", func() error {
		if err := env.Client.Get(t.Context(), key, kept); !apierrors.IsNotFound(err) {
			return fmt.Errorf("they are there, or not to be read: %w", err)
		}
		return nil
	})
	env.Rests(t)
	s.delete("chore")
	s.gone(a)
}

func TestAFleetOfMachinesRunsTheCommandOnceOnEach(t *testing.T) {
	s := newSite(t)
	s.secretsCanBeRead()
	s.logins()
	machines := []string{"db1", "db2", "db3"}
	s.create("upgrade", "true", onMachines(machines...))
	a := s.await("upgrade", egov1.StateSucceeded, "succeeded on all of 3 hosts")
	if f := a.Status.Fleet; f.Hosts != 3 || f.Succeeded != 3 || len(f.Groups) != 1 || !slices.Equal(f.Groups[0].Hosts, machines) {
		t.Errorf("expected the results of three machines in one group, got %+v", f)
	}
	for _, name := range machines {
		child := s.child("upgrade", 1, name)
		if child.Spec.SSH == nil || string(child.Spec.SSH.Address) != name+".example.com:2222" || len(s.pods(child)) != 1 {
			t.Errorf("expected one pod for the address of %s, got %+v and %d pods", name, child.Spec.SSH, len(s.pods(child)))
		}
	}
	env.Rests(t)
	s.operator.ExpectNoWork(func() { env.Heartbeat(t, s.hosts...) })
	s.patch("upgrade", `{"spec":{"run":2,"hosts":{"rerun":"All"}}}`)
	operator.Until(t, "the second run succeeds", func() error {
		if a := s.get("upgrade"); a.Status.Run != 2 || a.Status.Prosta != egov1.StateSucceeded {
			return fmt.Errorf("it is run %d, %s", a.Status.Run, a.Status.Prosta)
		}
		return nil
	})
	s.delete("upgrade")
	s.gone(a)
}

func TestAFleetWithAMachineWithoutRightStopsThere(t *testing.T) {
	s := newSite(t)
	s.secretsCanBeRead()
	s.logins()
	s.grant("ada", rule("activities", "*"), rule("hostusers", "run-as"), rule("sshhosts", "run", "db1.example.com"))
	s.try("ada may read the Secret", "", func() error { return s.readers("ada") })
	s.try("ada makes a fleet", "", func() error {
		return s.as("ada").Create(s.Context(), s.declared("upgrade", "true", onMachines("db1", "db2", "db3")))
	})
	a := s.await("upgrade", egov1.StateFailed, "did not succeed on 1 host")
	if f := a.Status.Fleet; f.Succeeded != 1 || f.Failed != 1 || f.NotStarted != 1 {
		t.Errorf("expected success on db1, a refusal on db2 and no start on db3, got %+v", f)
	}
}

// A run over SSH is not one of the node with the same name: the node may be missing, and its rights do not matter.
func TestTheNameOfAMachineIsNoNode(t *testing.T) {
	s := newSite(t)
	s.secretsCanBeRead()
	s.logins()
	s.grant("ada", rule("activities", "*"), rule("sshhosts", "run"), rule("hostusers", "run-as"))
	s.try("ada may read the Secret", "", func() error { return s.readers("ada") })
	s.try("ada makes one", "", func() error {
		return s.as("ada").Create(s.Context(), s.declared("chore", "true", overSSH("10.0.0.1"), onHost(s.hosts[0])))
	})
	s.await("chore", egov1.StateSucceeded)
}
