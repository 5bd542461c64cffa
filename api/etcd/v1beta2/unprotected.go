// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2

import (
	"fmt"
	"slices"
	"strings"
)

const plain = "http://"

// Unprotected returns a message if the spec sets TLS but names no Secrets, so that no connection is encrypted. The
// message says what to do. The result is empty if the cluster is protected as the spec requests.
func (c *EtcdCluster) Unprotected() string {
	if c.Spec.TLS == nil || c.PeerSecret() != "" || c.ServerSecret() != "" {
		return ""
	}
	return "spec.TLS names no Secrets, so members and clients connect without TLS, and TLS cannot be added to an existing cluster; remove spec.TLS, " +
		"or create a new cluster with TLS.static.member.peerSecret for members, and member.serverSecret and operatorSecret for clients"
}

// Unprotected returns a message if the spec sets clientTLSSecret but contains an http URL of a member. The message says
// what to do. The result is empty if the backup is protected as the spec requests.
func (b *EtcdBackup) Unprotected() string {
	i := slices.IndexFunc(b.Spec.EtcdEndpoints, func(url string) bool { return strings.HasPrefix(url, plain) })
	if b.Spec.ClientTLSSecret == "" || i < 0 {
		return ""
	}
	return fmt.Sprintf("clientTLSSecret requests TLS, but the member at %s is read without it; write https:// in etcdEndpoints, or remove clientTLSSecret",
		b.Spec.EtcdEndpoints[i])
}

// Unencrypted returns a message if backups travel to the storage unencrypted. The message says what to do. The result
// is empty if they travel encrypted.
func (s Storage) Unencrypted(asked StorageType) string {
	field, endpoint := "", ""
	switch {
	case asked == StorageS3 && s.S3 != nil:
		field, endpoint = "s3.endpoint", s.S3.Endpoint
	case asked == StorageOSS && s.OSS != nil:
		field, endpoint = "oss.endpoint", s.OSS.Endpoint
	}
	if !strings.HasPrefix(strings.ToLower(endpoint), plain) {
		return ""
	}
	return fmt.Sprintf("Backups and the credentials for their storage travel unencrypted, because %s is %s; write https:// if the server has a certificate", field, endpoint)
}
