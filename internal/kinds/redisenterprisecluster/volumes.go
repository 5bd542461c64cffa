// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/podtemplate"
)

// Where the helper finds what it is told, below secretsMount and configMount.
const (
	usernameKey, passwordKey = "username", "password"
	acceptedKey              = "accepted"
	configKey                = "redis.conf"

	usersFolder, systemFolder = "users", "system"
)

func volumes(c *redisv1alpha1.RedisEnterpriseCluster) []*corev1ac.VolumeApplyConfiguration {
	out := []*corev1ac.VolumeApplyConfiguration{
		corev1ac.Volume().WithName(helperVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource()),
		// What the helper writes there has a password in it, which is not for a disk.
		corev1ac.Volume().WithName(runVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource().
			WithMedium(corev1.StorageMediumMemory).WithSizeLimit(resource.MustParse("1Mi"))),
		corev1ac.Volume().WithName(secretsVolume).WithProjected(corev1ac.ProjectedVolumeSource().
			WithDefaultMode(0o440).
			WithSources(
				projected(userSecret(c), usersFolder, usernameKey),
				projected(systemSecret(c), systemFolder, passwordKey, acceptedKey))),
		corev1ac.Volume().WithName(configVolume).WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(configMap(c))),
		certificate(c),
	}
	if !persistent(c) {
		out = append(out, corev1ac.Volume().WithName(dataVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource()))
	}
	for _, v := range c.Spec.Volumes {
		out = append(out, podtemplate.Convert[*corev1ac.VolumeApplyConfiguration](v))
	}
	return out
}

// certificate is the user's for the status page, under the vendor's keys. The agent makes one of its own
// while there is none.
func certificate(c *redisv1alpha1.RedisEnterpriseCluster) *corev1ac.VolumeApplyConfiguration {
	out := corev1ac.Volume().WithName(certificateVolume)
	secret := pageSecret(c)
	if secret == "" {
		return out.WithEmptyDir(corev1ac.EmptyDirVolumeSource())
	}
	return out.WithSecret(corev1ac.SecretVolumeSource().
		WithSecretName(secret).
		WithOptional(true).
		WithDefaultMode(0o440).
		WithItems(
			corev1ac.KeyToPath().WithKey(certificateKey).WithPath("tls.crt"),
			corev1ac.KeyToPath().WithKey(privateKeyKey).WithPath("tls.key")))
}

// projected shows keys of a Secret in a folder of its own: see internal/podapi/redissecrets.
func projected(secret, folder string, keys ...string) *corev1ac.VolumeProjectionApplyConfiguration {
	source := corev1ac.SecretProjection().WithName(secret)
	for _, key := range keys {
		source.WithItems(corev1ac.KeyToPath().WithKey(key).WithPath(folder + "/" + key))
	}
	return corev1ac.VolumeProjection().WithSecret(source)
}
