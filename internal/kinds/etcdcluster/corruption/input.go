// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package corruption

import (
	"time"

	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// Input holds what the rules of this package need for their decisions.
type Input struct {
	Now     time.Time
	View    etcd.View
	Members []model.Member
	// Compared is the last comparison of the members' data; nil if there was none.
	Compared *steps.Comparison
}

func (in *Input) alarms() []etcd.Alarm { return model.Alarms(in.View, etcd.AlarmCorrupt) }
