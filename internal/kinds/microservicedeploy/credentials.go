// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

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
func (r *tenantReconciler) observeCredentials(ctx context.Context, ns *corev1.Namespace) (credentialFacts, error) {
	secret := &corev1.Secret{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: ns.Name, Name: tenantAuth}, secret)
	if client.IgnoreNotFound(err) != nil {
		return credentialFacts{}, fmt.Errorf("read credentials: %w", err)
	}
	f := credentialFacts{user: defaultUser}
	if !apierrors.IsNotFound(err) && secret.Labels[common.OwnerLabel] == string(ns.UID) {
		f.live = secret
	}
	if f.live == nil || len(f.live.Data["password"]) == 0 {
		f.password = rand.Text()
		f.line, err = hashLine(f.user, f.password)
		return f, err
	}
	if user := string(f.live.Data["username"]); user != "" && !strings.ContainsAny(user, ":\n\r") {
		f.user = user
	}
	f.password = string(f.live.Data["password"])
	if seen, ok := r.checked.Load(ns.Name); ok && seen == f.live.ResourceVersion {
		f.match = true
		return f, nil
	}
	if f.match = matches(string(f.live.Data[htpasswd]), f.user, f.password); f.match {
		r.checked.Store(ns.Name, f.live.ResourceVersion)
		return f, nil
	}
	f.line, err = hashLine(f.user, f.password)
	return f, err
}

// hashLine is a line of htpasswd. bcrypt counts 72 bytes of a password at most.
func hashLine(user, password string) (string, error) {
	if len(password) > 72 {
		password = password[:72]
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
	return ok && of == user && bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil
}

// child declares the Secret. Its user and password belong to whoever edits them; their
// hashes are ours. again is when an old password ends.
func (f credentialFacts) child(ns *corev1.Namespace, now time.Time) (child ensure.Child, again time.Duration) {
	lines := f.line
	if f.live != nil && f.match {
		lines, again = current(string(f.live.Data[htpasswd]), now)
	} else if f.live != nil {
		if old, _ := current(string(f.live.Data[htpasswd]), now); old != "" {
			first, _, _ := strings.Cut(old, "\n")
			lines += "\n" + until + now.Add(overlap).UTC().Format(time.RFC3339) + "\n" + first
			again = overlap
		}
	}
	child.Object = corev1ac.Secret(tenantAuth, ns.Name).WithType(corev1.SecretTypeOpaque).WithData(map[string][]byte{
		"username": []byte(f.user), "password": []byte(f.password), htpasswd: []byte(lines),
	})
	for _, key := range []string{"username", "password"} {
		if f.live == nil || len(f.live.Data[key]) > 0 { // what is missing is made anew
			child.Carry = append(child.Carry, "data."+key)
		}
	}
	return child, again
}

// current leaves out the lines whose time is over, and tells when the next one's is.
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
