// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package credentials declares the Secret with the user name and password that all MicroServiceDeploys of a namespace
// share, and with the htpasswd lines for them. After a password change, the old password stays valid for a while.
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
	// Overlap is how long an old password is still accepted. Kubelets update a Secret in pods within two minutes, and
	// clients need time to switch.
	Overlap = 10 * time.Minute
	// Until begins a comment line in the htpasswd file. The comment holds the time when the htpasswd lines below it
	// expire.
	Until = "# valid until "
	// DefaultUser is the user whose password is generated.
	DefaultUser = "tenant"
	// Longest is the number of bytes of a password that bcrypt uses. bcrypt ignores the bytes after them.
	Longest = 72
)

// Facts holds what opcrew reads about the shared credentials. It also holds new random values, such as a password. The
// plan cannot create random values itself, because it must return the same result for the same facts.
type Facts struct {
	Live  *corev1.Secret // the Secret; nil if it does not exist
	Match bool           // whether the first htpasswd line matches the password in the Secret
	// User and Password come from the Secret, or are new if the Secret has none. Line is a new htpasswd line for this
	// user and password.
	User, Password, Line string
}

// UserIn returns the user name in a Secret, or the default user if htpasswd cannot represent the name.
func UserIn(secret *corev1.Secret) string {
	user := string(secret.Data["username"])
	bad := strings.Contains(user, ":") || strings.HasPrefix(user, "#") || strings.TrimSpace(user) != user ||
		strings.ContainsFunc(user, unicode.IsControl) || !utf8.ValidString(user)
	if user == "" || bad {
		return DefaultUser
	}
	return user
}

// PasswordIn returns the password in a Secret without trailing line breaks. Editors and the command echo append line
// breaks, but users cannot type them in a login form.
func PasswordIn(secret *corev1.Secret) string {
	return strings.TrimRight(string(secret.Data["password"]), "\r\n")
}

// HashLine returns an htpasswd line. bcrypt uses only 72 bytes of a password, so a longer password gets a SHA-1 hash.
// This is safe, because such a long password cannot be guessed from its hash.
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
	if !htpasswd.Usable(first) { // comparing a password with a hash of a high bcrypt cost could take a day
		return false
	}
	return bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil
}

func shaOf(password string) string {
	sum := sha1.Sum([]byte(password))
	return "{SHA}" + base64.StdEncoding.EncodeToString(sum[:])
}

// Child declares the Secret. Users may change the user name and the password, but not the hashes. again is the time
// until an old password expires.
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
	// Apply a generated password or hash only if the Secret has not changed since it was read. Otherwise the Secret
	// could get the hash of one operator and the password of another operator.
	if child.New = f.Live == nil; !child.New {
		child.DecidedOn = f.Live.ResourceVersion
	}
	// opcrew keeps the user name and the password in the Secret. If a user removed one of them, opcrew sets it again.
	if f.Live == nil || len(f.Live.Data["username"]) > 0 {
		child.Carry = append(child.Carry, "data.username")
	}
	if f.Live == nil || PasswordIn(f.Live) != "" {
		child.Carry = append(child.Carry, "data.password")
	}
	return child, again
}

// current returns the htpasswd lines without the expired ones, and the time until the next lines expire.
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
