// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/opcrew/opcrew/api/common"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// suffixLength is that of the contract's pod names: <cluster>-<10 characters>.
const suffixLength = 10

// MemberName is the name of a member's pod and claim. It is made of the cluster's UID and a
// serial number that no other member of the cluster ever has, so that two processes which
// decide on the same facts name, and so make, the same member.
func MemberName(c *etcdv1beta2.EtcdCluster, serial int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", c.UID, serial))
	return c.Name + "-" + hex.EncodeToString(sum[:])[:suffixLength]
}

// NameInURL is the name of the member that a peer URL leads to.
func NameInURL(peerURL string) string {
	u, err := url.Parse(peerURL)
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(u.Hostname(), ".")
	return name
}

// ClientService is the Service that clients use.
func ClientService(c *etcdv1beta2.EtcdCluster) string { return c.Name + "-client" }

// ConnectionMap is the ConfigMap that describes the connection for applications.
func ConnectionMap(c *etcdv1beta2.EtcdCluster) string { return c.Name + "-connection" }

// Selector selects the pods, as the contract's Services do.
func Selector(c *etcdv1beta2.EtcdCluster) map[string]string {
	return map[string]string{etcdv1beta2.AppLabel: etcdv1beta2.AppName, etcdv1beta2.ClusterLabel: c.Name}
}

// OwnSelector selects what was made for this very object, and nothing that an earlier one of the name has
// left: that is another cluster with other data.
func OwnSelector(c *etcdv1beta2.EtcdCluster) map[string]string {
	out := Selector(c)
	out[common.OwnerLabel] = string(c.UID)
	return out
}

// Labels are those of all children.
func Labels(c *etcdv1beta2.EtcdCluster) map[string]string {
	out := Selector(c)
	maps.Copy(out, map[string]string{
		"app.kubernetes.io/name":      etcdv1beta2.AppName,
		"app.kubernetes.io/instance":  c.Name,
		"app.kubernetes.io/component": "database",
		"app.kubernetes.io/part-of":   common.Name,
	})
	return out
}

// Persistent reports whether members have claims.
func Persistent(c *etcdv1beta2.EtcdCluster) bool {
	return c.Spec.Pod != nil && c.Spec.Pod.PersistentVolumeClaimSpec != nil
}
