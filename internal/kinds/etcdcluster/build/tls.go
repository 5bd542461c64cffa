// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// The API of the CoreOS operator fixes these mount paths and the file names of certificates.
const (
	peerTLSVolume, peerTLSMount     = "member-peer-tls", "/etc/etcdtls/member/peer-tls"
	serverTLSVolume, serverTLSMount = "member-server-tls", "/etc/etcdtls/member/server-tls"
)

func tlsVolumes(c *etcdv1beta2.EtcdCluster) []*corev1ac.VolumeApplyConfiguration {
	var out []*corev1ac.VolumeApplyConfiguration
	for _, v := range [][2]string{{peerTLSVolume, c.PeerSecret()}, {serverTLSVolume, c.ServerSecret()}} {
		if v[1] != "" {
			out = append(out, corev1ac.Volume().WithName(v[0]).WithSecret(corev1ac.SecretVolumeSource().WithSecretName(v[1])))
		}
	}
	return out
}

func tlsMounts(c *etcdv1beta2.EtcdCluster) []*corev1ac.VolumeMountApplyConfiguration {
	var out []*corev1ac.VolumeMountApplyConfiguration
	if c.PeerSecret() != "" {
		out = append(out, corev1ac.VolumeMount().WithName(peerTLSVolume).WithMountPath(peerTLSMount).WithReadOnly(true))
	}
	if c.ServerSecret() != "" {
		out = append(out, corev1ac.VolumeMount().WithName(serverTLSVolume).WithMountPath(serverTLSMount).WithReadOnly(true))
	}
	return out
}

// tlsFlags returns the flags that make etcd require certificates from members and clients. etcd reads the files again
// for every connection, so renewed certificates need no restart.
func tlsFlags(c *etcdv1beta2.EtcdCluster) []string {
	var out []string
	if c.PeerSecret() != "" {
		out = append(out, "--peer-client-cert-auth=true",
			"--peer-trusted-ca-file="+peerTLSMount+"/peer-ca.crt", "--peer-cert-file="+peerTLSMount+"/peer.crt", "--peer-key-file="+peerTLSMount+"/peer.key")
	}
	if c.ServerSecret() != "" {
		out = append(out, "--client-cert-auth=true",
			"--trusted-ca-file="+serverTLSMount+"/server-ca.crt", "--cert-file="+serverTLSMount+"/server.crt", "--key-file="+serverTLSMount+"/server.key")
	}
	return out
}
