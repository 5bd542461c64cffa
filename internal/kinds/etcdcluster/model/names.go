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

// suffixLength is the length of the suffix in pod names, which the API of the CoreOS operator fixes: <cluster>-<10
// characters>.
const suffixLength = 10

// MemberName returns the name of a member's pod and claim. It is computed from the cluster's UID and a serial number
// that is never reused. Two processes that make the same decision thus create the same member, not two.
func MemberName(c *etcdv1beta2.EtcdCluster, serial int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", c.UID, serial))
	return c.Name + "-" + hex.EncodeToString(sum[:])[:suffixLength]
}

// NameInURL returns the name of the member in a peer URL; empty if the URL is invalid.
func NameInURL(peerURL string) string {
	u, err := url.Parse(peerURL)
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(u.Hostname(), ".")
	return name
}

// ClientService returns the name of the Service for clients.
func ClientService(c *etcdv1beta2.EtcdCluster) string { return c.Name + "-client" }

// ConnectionMap returns the name of the ConfigMap that describes the connection for applications.
func ConnectionMap(c *etcdv1beta2.EtcdCluster) string { return c.Name + "-connection" }

// Selector returns the labels by which the CoreOS operator's Services select pods.
func Selector(c *etcdv1beta2.EtcdCluster) map[string]string {
	return map[string]string{etcdv1beta2.AppLabel: etcdv1beta2.AppName, etcdv1beta2.ClusterLabel: c.Name}
}

// OwnSelector returns labels that select only the objects of this EtcdCluster. Leftovers of an earlier cluster of the
// same name, which have other data, do not match.
func OwnSelector(c *etcdv1beta2.EtcdCluster) map[string]string {
	out := Selector(c)
	out[common.OwnerLabel] = string(c.UID)
	return out
}

// Labels returns the labels of all objects that opcrew creates for the cluster.
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
