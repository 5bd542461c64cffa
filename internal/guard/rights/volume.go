// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// volume lists the objects that a volume uses.
func volume(v corev1.Volume) []reference {
	var out []reference
	if v.Secret != nil {
		out = append(out, secret(v.Secret.SecretName))
	}
	if v.ConfigMap != nil {
		out = append(out, configMap(v.ConfigMap.Name))
	}
	if v.PersistentVolumeClaim != nil {
		out = append(out, claim(v.PersistentVolumeClaim.ClaimName))
	}
	out = append(out, projected(v.Projected)...)
	out = append(out, copied(v.Ephemeral)...)
	return append(out, drivers(v)...)
}

func projected(p *corev1.ProjectedVolumeSource) []reference {
	var out []reference
	if p == nil {
		return nil
	}
	for _, s := range p.Sources {
		if s.Secret != nil {
			out = append(out, secret(s.Secret.Name))
		}
		if s.ConfigMap != nil {
			out = append(out, configMap(s.ConfigMap.Name))
		}
	}
	return out
}

// token returns the ServiceAccount of the pod if the volume projects a token or a certificate of that account. The
// default account needs the check too, because other systems may trust its token.
func token(v corev1.Volume, ofPod string) []reference {
	if v.Projected == nil {
		return nil
	}
	for _, s := range v.Projected.Sources {
		if s.ServiceAccountToken != nil || s.PodCertificate != nil {
			return []reference{account(cmp.Or(ofPod, defaultAccount))}
		}
	}
	return nil
}

// copied lists the claims and snapshots whose data an ephemeral volume starts with.
func copied(e *corev1.EphemeralVolumeSource) []reference {
	if e == nil || e.VolumeClaimTemplate == nil {
		return nil
	}
	return sources(e.VolumeClaimTemplate.Spec)
}

// sources returns references to the data sources of a new claim: the claims and other objects whose data is copied to
// the new volume. A dataSourceRef can name an object in another namespace.
func sources(spec corev1.PersistentVolumeClaimSpec) []reference {
	var out []reference
	if from := spec.DataSource; from != nil {
		out = append(out, source(from.APIGroup, from.Kind, from.Name).at("dataSource of a new volume claim"))
	}
	if from := spec.DataSourceRef; from != nil {
		r := source(from.APIGroup, from.Kind, from.Name).at("dataSourceRef of a new volume claim")
		r.in = ptr.Deref(from.Namespace, "")
		out = append(out, r)
	}
	return out
}

// source returns a reference to a data source of a claim: another claim, or an object such as a VolumeSnapshot.
func source(group *string, kind, name string) reference {
	gvk := schema.GroupVersionKind{Group: ptr.Deref(group, ""), Kind: kind}
	if gvk.Group == "" && kind == "PersistentVolumeClaim" {
		return claim(name)
	}
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	return used(gvk.Group, plural.Resource, name)
}

// drivers lists the CSI driver of an inline volume, and the Secrets that storage drivers read to mount the volume.
// A CSI driver can give a pod more than storage, such as credentials from a vault, so its use needs a right.
func drivers(v corev1.Volume) []reference {
	var names []string
	local := func(ref *corev1.LocalObjectReference) {
		if ref != nil {
			names = append(names, ref.Name)
		}
	}
	if v.CSI != nil {
		local(v.CSI.NodePublishSecretRef)
	}
	if v.AzureFile != nil {
		names = append(names, v.AzureFile.SecretName)
	}
	if v.CephFS != nil {
		local(v.CephFS.SecretRef)
	}
	if v.Cinder != nil {
		local(v.Cinder.SecretRef)
	}
	if v.FlexVolume != nil {
		local(v.FlexVolume.SecretRef)
	}
	if v.ISCSI != nil {
		local(v.ISCSI.SecretRef)
	}
	if v.RBD != nil {
		local(v.RBD.SecretRef)
	}
	if v.ScaleIO != nil {
		local(v.ScaleIO.SecretRef)
	}
	if v.StorageOS != nil {
		local(v.StorageOS.SecretRef)
	}
	var out []reference
	if v.CSI != nil {
		out = append(out, used(storagev1.GroupName, "csidrivers", v.CSI.Driver))
	}
	for _, name := range names {
		out = append(out, secret(name))
	}
	return out
}
