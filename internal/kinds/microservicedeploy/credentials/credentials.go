// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package credentials holds the user and password of a tenant, and the lines of htpasswd made of them. An old password
// stays valid for a while after a change.
package credentials

import (
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/podapi/htpasswd"
)

const (
	// Overlap is how long an old password is still accepted: kubelets bring a changed Secret
	// to the pods within two minutes, and clients need to learn it.
	Overlap = 10 * time.Minute
	// Until marks, in a comment, when the lines below it end.
	Until = "# valid until "
	// DefaultUser is the one whose password is generated.
	DefaultUser = "tenant"
	// Longest is how many bytes of a password bcrypt takes.
	Longest = 72
)

// Facts are what is read about a tenant's credentials, with what a plan may
// need that cannot be computed twice alike.
type Facts struct {
	Live  *corev1.Secret // nil if there is none
	Match bool           // the first line is of the password beside it
	// User and Password are those of the Secret or, if it has none, new ones; Line is a new line of them.
	User, Password, Line string
}

// UserIn is the user of a Secret, or the default one for what cannot stand in htpasswd.
func UserIn(secret *corev1.Secret) string {
	user := string(secret.Data["username"])
	bad := strings.Contains(user, ":") || strings.HasPrefix(user, "#") || strings.TrimSpace(user) != user ||
		strings.ContainsFunc(user, unicode.IsControl) || !utf8.ValidString(user)
	if user == "" || bad {
		return DefaultUser
	}
	return user
}

// PasswordIn is the password of a Secret, without the end of a line that editors and echo
// leave behind, and no one can type.
func PasswordIn(secret *corev1.Secret) string {
	return strings.TrimRight(string(secret.Data["password"]), "\r\n")
}

// HashLine is a line of htpasswd. bcrypt counts 72 bytes of a password; a longer one is
// too good to be guessed from any hash.
func HashLine(user, password string) (string, error) {
	if len(password) > Longest {
		return user + ":" + shaOf(password), nil
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	if err != nil {
		return "", fmt.Errorf("hash the tenant's password: %w", err)
	}
	return user + ":" + string(hash), nil
}

// Matches reports whether the first line of an htpasswd file is for this user and password.
func Matches(lines, user, password string) bool {
	first, _, _ := strings.Cut(lines, "\n")
	of, hash, ok := strings.Cut(first, ":")
	if !ok || of != user {
		return false
	}
	if len(password) > Longest {
		return hash == shaOf(password)
	}
	if !htpasswd.Usable(first) { // a line of a high cost would occupy a worker for a day
		return false
	}
	return bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil
}

func shaOf(password string) string {
	sum := sha1.Sum([]byte(password))
	return "{SHA}" + base64.StdEncoding.EncodeToString(sum[:])
}

// Child declares the Secret. Its user and password belong to anyone who edits them; their
// hashes are ours. again is when an old password ends.
func (f Facts) Child(ns *corev1.Namespace, now time.Time) (child ensure.Child, again time.Duration) {
	lines := f.Line
	if f.Live != nil && f.Match {
		lines, again = current(string(f.Live.Data[names.HtpasswdKey]), now)
	} else if f.Live != nil {
		old, _ := current(string(f.Live.Data[names.HtpasswdKey]), now)
		if first, _, _ := strings.Cut(old, "\n"); htpasswd.Usable(first) {
			lines += "\n" + Until + now.Add(Overlap).UTC().Format(time.RFC3339) + "\n" + first
			again = Overlap
		}
	}
	child.Object = corev1ac.Secret(names.TenantAuth, ns.Name).WithType(corev1.SecretTypeOpaque).WithData(map[string][]byte{
		"username": []byte(f.User), "password": []byte(f.Password), names.HtpasswdKey: []byte(lines),
	})
	// A fresh password, or a line of it, is for the very Secret that was read: two operators at once would
	// put the line of one beside the password of the other.
	if child.New = f.Live == nil; !child.New {
		child.DecidedOn = f.Live.ResourceVersion
	}
	// What is missing is recreated.
	if f.Live == nil || len(f.Live.Data["username"]) > 0 {
		child.Carry = append(child.Carry, "data.username")
	}
	if f.Live == nil || PasswordIn(f.Live) != "" {
		child.Carry = append(child.Carry, "data.password")
	}
	return child, again
}

// current leaves out the lines whose time is over, and says when the next one's is.
func current(lines string, now time.Time) (string, time.Duration) {
	before, after, found := strings.Cut(lines, "\n"+Until)
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
