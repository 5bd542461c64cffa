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

// suffixLength comes from the contract for pod names: <cluster>-<10 characters>.
const suffixLength = 10

// MemberName returns the name of a member's pod and claim. It is made of the cluster's UID and a serial number that no
// other member ever has. So two processes that decide on the same facts create the same member, not two.
func MemberName(c *etcdv1beta2.EtcdCluster, serial int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", c.UID, serial))
	return c.Name + "-" + hex.EncodeToString(sum[:])[:suffixLength]
}

// NameInURL returns the name of the member in a peer URL.
func NameInURL(peerURL string) string {
	u, err := url.Parse(peerURL)
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(u.Hostname(), ".")
	return name
}

// ClientService returns the name of the Service that clients use.
func ClientService(c *etcdv1beta2.EtcdCluster) string { return c.Name + "-client" }

// ConnectionMap returns the name of the ConfigMap that describes the connection for applications.
func ConnectionMap(c *etcdv1beta2.EtcdCluster) string { return c.Name + "-connection" }

// Selector returns the labels that the contract's Services select pods by.
func Selector(c *etcdv1beta2.EtcdCluster) map[string]string {
	return map[string]string{etcdv1beta2.AppLabel: etcdv1beta2.AppName, etcdv1beta2.ClusterLabel: c.Name}
}

// OwnSelector selects what was made for this object. It leaves out what an earlier cluster of the same name has left,
// which has other data.
func OwnSelector(c *etcdv1beta2.EtcdCluster) map[string]string {
	out := Selector(c)
	out[common.OwnerLabel] = string(c.UID)
	return out
}

// Labels returns the labels of all children.
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
