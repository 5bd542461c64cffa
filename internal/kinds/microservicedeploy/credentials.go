// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"context"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit/ensure"
)

const (
	// overlap is how long an old password is still let in: kubelets bring a changed Secret
	// to the pods within two minutes, and clients need to be told.
	overlap = 10 * time.Minute
	// until marks, in a comment, when the lines below it end.
	until = "# valid until "
	// defaultUser is the one whose password is generated.
	defaultUser = "tenant"
	// longest is how many bytes of a password bcrypt takes.
	longest = 72
)

// credentialFacts are what is read about a tenant's credentials, with what a plan may
// need that cannot be computed twice alike.
type credentialFacts struct {
	live  *corev1.Secret // nil: there is none
	match bool           // the first line is of the password that stands beside it
	// user and password are those that stand there or, if there are none, fresh ones;
	// line is a fresh line of them.
	user, password, line string
}

// observeCredentials reads the tenant's Secret, and compares its password with its hash.
func (r *tenantReconciler) observeCredentials(ctx context.Context, ns *corev1.Namespace, wanted bool) (credentialFacts, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: ns.Name, Name: tenantAuth}
	err := r.Client.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) && wanted {
		// One that we have made may not be in the cache yet; the hash of a fresh password
		// would come beside its own.
		err = r.Live.Get(ctx, key, secret)
	}
	if client.IgnoreNotFound(err) != nil {
		return credentialFacts{}, fmt.Errorf("read credentials: %w", err)
	}
	f := credentialFacts{user: defaultUser}
	if !apierrors.IsNotFound(err) && secret.Labels[common.OwnerLabel] == string(ns.UID) {
		f.live, f.user, f.password = secret, userIn(secret), passwordIn(secret)
	}
	if f.live == nil && !wanted {
		return credentialFacts{}, nil // fresh ones cost a hash
	}
	if f.password == "" {
		f.password = rand.Text()
		f.line, err = hashLine(f.user, f.password)
		return f, err
	}
	if seen, ok := r.checked.Load(ns.Name); ok && seen == f.live.ResourceVersion {
		f.match = true
		return f, nil
	}
	if f.match = matches(string(f.live.Data[htpasswdKey]), f.user, f.password); f.match {
		r.checked.Store(ns.Name, f.live.ResourceVersion)
		return f, nil
	}
	f.line, err = hashLine(f.user, f.password)
	return f, err
}

// userIn is the user of a Secret, or the default one for what cannot stand in htpasswd.
func userIn(secret *corev1.Secret) string {
	user := string(secret.Data["username"])
	bad := strings.Contains(user, ":") || strings.HasPrefix(user, "#") || strings.TrimSpace(user) != user ||
		strings.ContainsFunc(user, unicode.IsControl) || !utf8.ValidString(user)
	if user == "" || bad {
		return defaultUser
	}
	return user
}

// passwordIn is the password of a Secret, without the end of a line that editors and echo
// leave behind, and no one can type.
func passwordIn(secret *corev1.Secret) string {
	return strings.TrimRight(string(secret.Data["password"]), "\r\n")
}

// hashLine is a line of htpasswd. bcrypt counts 72 bytes of a password; a longer one is
// too good to be guessed from any hash.
func hashLine(user, password string) (string, error) {
	if len(password) > longest {
		return user + ":" + shaOf(password), nil
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	if err != nil {
		return "", fmt.Errorf("hash the tenant's password: %w", err)
	}
	return user + ":" + string(hash), nil
}

func matches(lines, user, password string) bool {
	first, _, _ := strings.Cut(lines, "\n")
	of, hash, ok := strings.Cut(first, ":")
	if !ok || of != user {
		return false
	}
	if len(password) > longest {
		return hash == shaOf(password)
	}
	return bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil
}

func shaOf(password string) string {
	sum := sha1.Sum([]byte(password))
	return "{SHA}" + base64.StdEncoding.EncodeToString(sum[:])
}

// child declares the Secret. Its user and password belong to anyone who edits them; their
// hashes are ours. again is when an old password ends.
func (f credentialFacts) child(ns *corev1.Namespace, now time.Time) (child ensure.Child, again time.Duration) {
	lines := f.line
	if f.live != nil && f.match {
		lines, again = current(string(f.live.Data[htpasswdKey]), now)
	} else if f.live != nil {
		if old, _ := current(string(f.live.Data[htpasswdKey]), now); old != "" {
			first, _, _ := strings.Cut(old, "\n")
			lines += "\n" + until + now.Add(overlap).UTC().Format(time.RFC3339) + "\n" + first
			again = overlap
		}
	}
	child.Object = corev1ac.Secret(tenantAuth, ns.Name).WithType(corev1.SecretTypeOpaque).WithData(map[string][]byte{
		"username": []byte(f.user), "password": []byte(f.password), htpasswdKey: []byte(lines),
	})
	// A fresh password, or a line of it, is for the very Secret that was looked at: two operators at once would
	// put the line of one beside the password of the other.
	if child.New = f.live == nil; !child.New {
		child.DecidedOn = f.live.ResourceVersion
	}
	// What is missing is recreated.
	if f.live == nil || len(f.live.Data["username"]) > 0 {
		child.Carry = append(child.Carry, "data.username")
	}
	if f.live == nil || passwordIn(f.live) != "" {
		child.Carry = append(child.Carry, "data.password")
	}
	return child, again
}

// current leaves out the lines whose time is over, and says when the next one's is.
func current(lines string, now time.Time) (string, time.Duration) {
	before, after, found := strings.Cut(lines, "\n"+until)
	if !found {
		return lines, 0
	}
	stamp, _, _ := strings.Cut(after, "\n")
	end, err := time.Parse(time.RFC3339, strings.TrimSpace(stamp))
	if err != nil || !now.Before(end) {
		return before, 0
	}
	return lines, end.Sub(now)
}
