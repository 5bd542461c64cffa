// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

func TestOnlyAMachineWithAPinnedHostKeyGetsTheCommand(t *testing.T) {
	other, _ := newKey(t)
	for name, c := range map[string]struct {
		known func(*machine) string
		words []string
	}{
		"no key":            {func(*machine) string { return "" }, []string{"known_hosts in Secret logins has no key for this address", "add it"}},
		"of other machines": {func(m *machine) string { return "db2 " + string(ssh.MarshalAuthorizedKey(m.host.PublicKey())) }, []string{"has no key for this address"}},
		"another key":       {func(m *machine) string { return m.known(other.PublicKey()) }, []string{"has another key for this address", "may be another machine"}},
		"a key of another type": {func(m *machine) string { return m.known(ofOtherType(t)) },
			[]string{"has another key for this address"}},
		"a revoked key": {func(m *machine) string {
			return m.known(m.host.PublicKey()) + "@revoked * " + string(ssh.MarshalAuthorizedKey(m.host.PublicKey()))
		},
			[]string{"marks as revoked"}},
	} {
		m := newMachine(t)
		j := newJob(t, m, "true")
		j.known = c.known(m)
		t.Log(name)
		j.want(j.run(), hostjob.NotStarted, hostjob.ReasonHostKey, append(c.words, ssh.FingerprintSHA256(m.host.PublicKey()))...)
		if n := m.executions.Load(); n > 0 {
			t.Errorf("%s: expected the machine to get no command, it got %d", name, n)
		}
	}
}

func TestOneOfSeveralPinnedKeysIsEnough(t *testing.T) {
	m := newMachine(t)
	j := newJob(t, m, "true")
	j.known = m.known(ofOtherType(t)) + m.known(m.host.PublicKey())
	j.want(j.run(), hostjob.Succeeded, hostjob.ReasonExited)
}

func TestAUserWithoutTheKeyIsReported(t *testing.T) {
	m := newMachine(t)
	j := newJob(t, m, "true")
	_, j.key = newKey(t)
	j.want(j.run(), hostjob.NotStarted, hostjob.ReasonLogin, "does not let user ordinary log in", "authorized_keys")
}

func ofOtherType(t *testing.T) ssh.PublicKey {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(&private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
