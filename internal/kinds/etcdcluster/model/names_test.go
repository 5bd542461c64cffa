// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"testing"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
)

func TestTheNamesOfMembersAreThoseOfTheClusterAndTheirNumber(t *testing.T) {
	c, other := clustertest.New(), clustertest.New(func(c *etcdv1beta2.EtcdCluster) { c.UID = "u-2" })
	if a, b := MemberName(c, 1), MemberName(c, 1); a != b || len(a) != len("example-")+10 {
		t.Errorf("expected two processes to name a member alike, with ten characters, got %s and %s", a, b)
	}
	if MemberName(c, 1) == MemberName(c, 2) || MemberName(c, 1) == MemberName(other, 1) {
		t.Error("expected another name for another number and for a later cluster of the same name")
	}
}
