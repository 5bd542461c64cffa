// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/access"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/podtemplate"
)

func volumes(c *redisv1alpha1.RedisEnterpriseCluster) []*corev1ac.VolumeApplyConfiguration {
	out := []*corev1ac.VolumeApplyConfiguration{
		corev1ac.Volume().WithName(agentVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource()),
		// The agent writes a password to this volume, so it is in memory and never on a disk.
		corev1ac.Volume().WithName(runVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource().
			WithMedium(corev1.StorageMediumMemory).WithSizeLimit(resource.MustParse("1Mi"))),
		corev1ac.Volume().WithName(secretsVolume).WithProjected(corev1ac.ProjectedVolumeSource().
			WithDefaultMode(0o440).
			WithSources(
				projected(desired.UserSecret(c), usersFolder, access.UserKeys()...),
				projected(desired.SystemSecret(c), systemFolder, access.SystemKeys()...))),
		corev1ac.Volume().WithName(configVolume).WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(desired.ConfigMap(c))),
		certificate(c),
	}
	if !desired.Persistent(c) {
		out = append(out, corev1ac.Volume().WithName(desired.DataVolume).WithEmptyDir(corev1ac.EmptyDirVolumeSource()))
	}
	for _, v := range c.Spec.Volumes {
		out = append(out, podtemplate.Convert[*corev1ac.VolumeApplyConfiguration](v))
	}
	return out
}

// certificate declares the volume with the user's certificate for the status page. It is optional: without the
// certificate, the agent generates one.
func certificate(c *redisv1alpha1.RedisEnterpriseCluster) *corev1ac.VolumeApplyConfiguration {
	out := corev1ac.Volume().WithName(certificateVolume)
	secret := desired.PageSecret(c)
	if secret == "" {
		return out.WithEmptyDir(corev1ac.EmptyDirVolumeSource())
	}
	return out.WithSecret(corev1ac.SecretVolumeSource().
		WithSecretName(secret).
		WithOptional(true).
		WithDefaultMode(0o440).
		WithItems(
			corev1ac.KeyToPath().WithKey(access.CertificateKey).WithPath("tls.crt"),
			corev1ac.KeyToPath().WithKey(access.PrivateKeyKey).WithPath("tls.key")))
}

// projected mounts keys of a Secret in a directory, from which internal/agents/redisserver reads them.
func projected(secret, folder string, keys ...string) *corev1ac.VolumeProjectionApplyConfiguration {
	source := corev1ac.SecretProjection().WithName(secret)
	for _, key := range keys {
		source.WithItems(corev1ac.KeyToPath().WithKey(key).WithPath(folder + "/" + key))
	}
	return corev1ac.VolumeProjection().WithSecret(source)
}
