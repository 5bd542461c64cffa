// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
)

// Keys of the user name and the password in both Secrets.
const (
	usernameKey, passwordKey = "username", "password"
	acceptedKey              = "accepted"
)

// UserKeys returns the keys of the users' Secret that the agent in each pod needs.
func UserKeys() []string { return []string{usernameKey} }

// SystemKeys returns the keys of the operator's Secret that the agent in each pod needs.
func SystemKeys() []string { return []string{passwordKey, acceptedKey} }

// Users declares the Secret that users log in with.
func Users(c *redisv1alpha1.RedisEnterpriseCluster, password string) *corev1ac.SecretApplyConfiguration {
	return corev1ac.Secret(desired.UserSecret(c), c.Namespace).WithLabels(desired.Labels(c)).
		WithType(corev1.SecretTypeOpaque).
		WithData(map[string][]byte{usernameKey: []byte(desired.Username(c)), passwordKey: []byte(password)})
}

// System declares the Secret with the password of the operator and the agents. It also lists the hashes of the users'
// passwords that servers accept.
func System(c *redisv1alpha1.RedisEnterpriseCluster, password string, accepted []string) *corev1ac.SecretApplyConfiguration {
	return corev1ac.Secret(desired.SystemSecret(c), c.Namespace).WithLabels(desired.Labels(c)).
		WithType(corev1.SecretTypeOpaque).
		WithData(map[string][]byte{passwordKey: []byte(password), acceptedKey: []byte(acceptedText(accepted))})
}

// acceptedText returns the accepted passwords in the agent's format: the SHA-256 of each password in hexadecimal, one
// per line.
func acceptedText(accepted []string) string {
	var text strings.Builder
	for _, hash := range accepted {
		text.WriteString(hash + "\n")
	}
	return text.String()
}

// acceptedIn returns the hashes of the accepted passwords in a Secret.
func acceptedIn(secret *corev1.Secret) []string {
	return strings.Fields(string(secret.Data[acceptedKey]))
}

// passwordIn returns the password in a Secret, without the line break that editors and echo append.
func passwordIn(secret *corev1.Secret) string {
	return strings.TrimRight(string(secret.Data[passwordKey]), "\r\n")
}

// nameIn returns the user name in a Secret, without a line break at its end.
func nameIn(secret *corev1.Secret) string {
	return strings.TrimRight(string(secret.Data[usernameKey]), "\r\n")
}
