// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

// bornBefore is in what etcd says when it does not begin on an empty volume because its peers know it as one
// that has run (etcd: isMemberBootstrapped, the same in 3.4 to 3.7).
const bornBefore = "has already been bootstrapped"

// startsOver reports whether the first members begin again, all of them. One has lost its emptyDir after the others
// had heard of it, so that etcd does not let it in again, and without it they never form the cluster: of two,
// one is enough for that. No one has written to it. Where there are claims they are the user's to delete.
func (f facts) startsOver(c *etcdv1beta2.EtcdCluster) bool {
	if c.Status.ClusterID != "" || persistent(c) || f.view.Stale || f.view.HasQuorum() {
		return false
	}
	return slices.ContainsFunc(f.members(c), func(m member) bool { return m.pod != nil && !m.answers && shutOut(m.pod) })
}

// shutOut reports whether that is why etcd does not run in a pod.
func shutOut(pod *corev1.Pod) bool {
	said := lastReport(pod)
	return said != nil && said.Reason == etcdstart.EtcdEnded && strings.Contains(said.Message, bornBefore)
}
