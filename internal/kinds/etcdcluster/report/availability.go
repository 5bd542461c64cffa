// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Availability holds what is known about whether the cluster serves clients.
type Availability struct {
	Cluster *etcdv1beta2.EtcdCluster
	Now     time.Time
	View    etcd.View
	Members []model.Member
	// Invalid explains why the spec cannot be carried out.
	Invalid *model.Obstacle
	// WritesRefused explains why etcd accepts no writes although the members answer.
	WritesRefused *model.Obstacle
	// OtherID is the id of another cluster that answers at the members' addresses; empty if none does.
	OtherID string
	// SwitchingOver is the message while a restored member is ready but does not get clients yet; empty otherwise.
	SwitchingOver string
	// StartsOver is true if all first members are being recreated.
	StartsOver bool
	// Paused is true if pods are not recreated.
	Paused bool
}
