// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/opcrew/opcrew/internal/agents/shared/order"
	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// login is how to log in to a host, and which host keys it may have.
type login struct {
	user, address, secret string
	signer                ssh.Signer
	known                 ssh.HostKeyCallback
	// algorithms are those of host keys: first the pinned ones, because a server with keys of several types must offer
	// the pinned key. The others let a server show a key that is refused with its fingerprint.
	algorithms []string
}

func address(s *hostjob.SSH) string { return net.JoinHostPort(s.Host, s.Port) }

// readLogin reads the private key and the host keys from the mounted Secret.
func readLogin(dir string, o hostjob.Order) (login, *hostjob.Result) {
	out := login{user: o.User, address: address(o.SSH), secret: o.SSH.Secret}
	text, err := order.UpTo(filepath.Join(dir, hostjob.SSHKeyFile), maxKeys)
	if err == nil {
		out.signer, err = ssh.ParsePrivateKey(text)
	}
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked):
		return out, hostjob.Refuse(hostjob.ReasonSSHFiles, "the private key in Secret %s has a passphrase; store a key without one", out.secret)
	case err != nil:
		return out, hostjob.Refuse(hostjob.ReasonSSHFiles, "the private key in Secret %s cannot be read (%v); store a key as ssh-keygen writes it", out.secret, err)
	}
	if out.known, err = knownhosts.New(filepath.Join(dir, hostjob.SSHKnownFile)); err != nil {
		return out, hostjob.Refuse(hostjob.ReasonSSHFiles, "known_hosts in Secret %s cannot be read (%v); store lines as ssh-keyscan prints them", out.secret, err)
	}
	out.algorithms = out.pinned()
	for _, algorithm := range ssh.SupportedAlgorithms().HostKeys {
		if !strings.Contains(algorithm, "-cert-") && !slices.Contains(out.algorithms, algorithm) {
			out.algorithms = append(out.algorithms, algorithm)
		}
	}
	return out, nil
}

// pinned returns the algorithms of the host keys that are pinned for the host. To find them, it checks a key that no
// host has.
func (l login) pinned() []string {
	none, err := ssh.NewPublicKey(ed25519.PublicKey(make([]byte, ed25519.PublicKeySize)))
	if err != nil {
		return nil // cannot happen, because the key has the right size
	}
	var other *knownhosts.KeyError
	if !errors.As(l.known(l.address, &net.TCPAddr{}, none), &other) {
		return nil
	}
	var out []string
	for _, key := range other.Want {
		for _, algorithm := range algorithmsOf(key.Key.Type()) {
			if !slices.Contains(out, algorithm) {
				out = append(out, algorithm)
			}
		}
	}
	return out
}

// algorithmsOf returns the signature algorithms of a type of key. RSA keys sign with SHA-2.
func algorithmsOf(kind string) []string {
	if kind == ssh.KeyAlgoRSA {
		return []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	}
	return []string{kind}
}

// verdict is what the check of a host key found. The SSH library loses the type of the error.
type verdict struct {
	passed  bool
	refusal *hostjob.Result
}

// check verifies the host key of a server.
func (v *verdict) check(l login) ssh.HostKeyCallback {
	return func(host string, remote net.Addr, key ssh.PublicKey) error {
		err := l.known(host, remote, key)
		if err != nil {
			v.refusal = hostjob.Refuse(hostjob.ReasonHostKey, "%s", l.refused(err, key))
			return err
		}
		v.passed = true
		return nil
	}
}

// refused explains why a host key is refused, and what to do.
func (l login) refused(err error, key ssh.PublicKey) string {
	offered := fmt.Sprintf("the server at %s offers host key %s %s", l.address, key.Type(), ssh.FingerprintSHA256(key))
	compare := "compare it with `ssh-keygen -lf` of the files /etc/ssh/ssh_host_*_key.pub on the machine; if it is the right one, "
	var other *knownhosts.KeyError
	var revoked *knownhosts.RevokedError
	switch {
	case errors.As(err, &revoked):
		return offered + ", which known_hosts in Secret " + l.secret + " marks as revoked; give the machine another host key"
	case errors.As(err, &other) && len(other.Want) > 0:
		return offered + ", but known_hosts in Secret " + l.secret + " has another key for this address, so it may be another machine; " + compare + "replace the line in known_hosts, then raise spec.run"
	}
	return offered + ", and known_hosts in Secret " + l.secret + " has no key for this address; " + compare + "add it to known_hosts, then raise spec.run"
}
