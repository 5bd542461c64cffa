// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

// users is the Secret with what users log in by. Someone may change its password: it is declared as it
// stands there, and made at random only where there is none.
func users(c *redisv1alpha1.RedisEnterpriseCluster, password string) *corev1ac.SecretApplyConfiguration {
	return corev1ac.Secret(userSecret(c), c.Namespace).WithLabels(labels(c)).
		WithType(corev1.SecretTypeOpaque).
		WithData(map[string][]byte{usernameKey: []byte(username(c)), passwordKey: []byte(password)})
}

// system is the Secret with the password of the operator and the agents, and with what the servers accept
// of users: during a change of the password both the old and the new.
func system(c *redisv1alpha1.RedisEnterpriseCluster, password string, accepted []string) *corev1ac.SecretApplyConfiguration {
	return corev1ac.Secret(systemSecret(c), c.Namespace).WithLabels(labels(c)).
		WithType(corev1.SecretTypeOpaque).
		WithData(map[string][]byte{passwordKey: []byte(password), acceptedKey: []byte(acceptedText(accepted))})
}

// acceptedText is what the helper reads: the SHA-256 of each password in hexadecimal, one a line.
func acceptedText(accepted []string) string {
	var text strings.Builder
	for _, hash := range accepted {
		text.WriteString(hash + "\n")
	}
	return text.String()
}

// acceptedIn reads it again.
func acceptedIn(secret *corev1.Secret) []string {
	return strings.Fields(string(secret.Data[acceptedKey]))
}

// hashOf is a password as the servers' ACL has it.
func hashOf(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

// passwordIn is the password of a Secret, without the end of a line that editors and echo leave behind.
func passwordIn(secret *corev1.Secret) string {
	return strings.TrimRight(string(secret.Data[passwordKey]), "\r\n")
}

// nameIn is the user's name in a Secret.
func nameIn(secret *corev1.Secret) string {
	return strings.TrimRight(string(secret.Data[usernameKey]), "\r\n")
}
