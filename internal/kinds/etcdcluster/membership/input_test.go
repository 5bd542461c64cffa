// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/steps"
	"github.com/opcrew/opcrew/internal/stores/etcd"
)

// healthy returns the input for a cluster with members 0 to n-1, all of them healthy voters. Member 0 is the leader.
func healthy(n int, edits ...func(*model.Member)) *Input {
	in := &Input{Size: int32(n), View: etcd.View{Status: map[uint64]etcd.MemberStatus{}}, Add: &steps.Step{Name: "add a member"}}
	for i := range n {
		id := uint64(0x100 + i)
		in.View.Members = append(in.View.Members, etcd.Member{ID: id})
		in.View.Status[id] = etcd.MemberStatus{ID: id, Leader: 0x100}
		in.Members = append(in.Members, model.Member{Name: names[i], Serial: int64(i), ID: id, Started: true, Healthy: true, Answers: true, Asked: true})
	}
	for i, edit := range edits {
		if edit != nil {
			edit(&in.Members[i])
		}
	}
	return in
}

var names = []string{"a", "b", "c", "d", "e"}

func sized(in *Input, size int32) *Input {
	in.Size = size
	return in
}

// says returns a summary of a verdict, such as "wait for ...".
func says(v steps.Verdict) string {
	switch {
	case v.Step != nil:
		return v.Step.Name
	case v.Waits != "":
		return "wait for " + v.Waits
	}
	return "nothing"
}
