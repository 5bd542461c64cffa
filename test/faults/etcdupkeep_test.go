// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"fmt"
	"time"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/test/faults"
)

// etcdTending fills the storage of all members. Then it corrupts the leader's data, and lets etcd raise the alarm for
// another member whose data is correct. The simulated etcd reports a violation if the operator clears an alarm too
// early or spreads corrupt data.
var etcdTending = faults.Workload{
	Name: "tending",
	Steps: []faults.Step{
		{
			Name:  "create a cluster with claims",
			Do:    func(u *faults.User) { u.Apply(persistentEtcd) },
			Until: etcdReady,
		},
		{
			Name:     "a client fills it with history",
			Do:       func(u *faults.User) { eachEtcd(u, fill) },
			Until:    etcdQuiet,
			Patience: 45 * time.Second,
		},
		{
			Name:     "the leader's data is changed",
			Do:       func(u *faults.User) { eachEtcd(u, spoilLeader) },
			Until:    etcdQuiet,
			Patience: 45 * time.Second,
		},
	},
}

// eachEtcd calls do with the token of each EtcdCluster in the user's namespace. The token identifies its members.
func eachEtcd(u *faults.User, do func(token string)) {
	list := &etcdv1beta2.EtcdClusterList{}
	u.List(list)
	for _, c := range list.Items {
		do(string(c.UID))
	}
}

func fill(token string) { _ = stores.Write(token, 5000, 1<<20, 2<<30) } // a full store refuses the write

func spoilLeader(token string) {
	leader := stores.Leader(token)
	stores.Corrupt(leader)
	for _, m := range stores.Members(token) {
		if m.Name != leader {
			stores.Accuse(m.Name)
			return
		}
	}
}

// etcdQuiet holds if no alarm is active and clients can write.
func etcdQuiet(v faults.View) error {
	c := &etcdv1beta2.EtcdCluster{}
	if err := v.Get("db", c); err != nil {
		return err
	}
	if alarms := stores.Alarms(string(c.UID)); len(alarms) > 0 {
		return fmt.Errorf("alarms %v are active, the status is %+v", alarms, c.Status)
	}
	return etcdReady(v)
}
