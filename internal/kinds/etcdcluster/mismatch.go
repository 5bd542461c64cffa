// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"fmt"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// mistaken reports whether another cluster answers than the status names, and nothing is known to be lost. That is no
// lost quorum: either the status or the data is not what it was, and only the user knows which.
func (f facts) mistaken(d decision) bool { return f.otherID != "" && !hopeless(d) }

// mismatch says what is wrong then, and how to correct it.
func (f facts) mismatch(c *etcdv1beta2.EtcdCluster) string {
	return fmt.Sprintf("status.clusterID is %s, and cluster %s answers at the members' addresses: either the status was changed, or volumes were replaced. "+
		"The membership is left as it is. If the data is right, set status.clusterID: kubectl patch etcdcluster %s -n %s --subresource=status --type=merge "+
		`-p '{"status":{"clusterID":"%s"}}'; if it is not, put the volumes back`,
		c.Status.ClusterID, f.otherID, c.Name, c.Namespace, f.otherID)
}
