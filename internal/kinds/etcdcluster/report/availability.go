// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Availability is the input for the condition Available: whether the cluster serves clients.
type Availability struct {
	Cluster *etcdv1beta2.EtcdCluster
	Now     time.Time
	View    etcd.View
	Members []model.Member
	// Invalid explains why opcrew cannot carry out the spec; nil if it can.
	Invalid *model.Obstacle
	// WritesRefused explains why etcd refuses writes although the members answer; nil if it accepts writes.
	WritesRefused *model.Obstacle
	// OtherID is the ID of another etcd cluster that responds at the members' addresses; empty if there is none.
	OtherID string
	// SwitchingOver is the message to show while the restored member is ready but clients are not sent to it yet; empty
	// otherwise.
	SwitchingOver string
	// StartsOver is true if all first members are being recreated.
	StartsOver bool
	// Paused is true if the user has paused the cluster, so that opcrew recreates no pods.
	Paused bool
}
