// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"
)

// FuzzMembers decodes arbitrary bytes as a member's response to MemberList.
func FuzzMembers(f *testing.F) {
	for _, urls := range [][]string{{"https://db-1.db.shop.svc:2379"}, {"http://10.0.0.1:2379", "x"}, {"https://u@db-1.db.shop.svc:2379/?#"}, nil} {
		text, err := proto.Marshal(&etcdserverpb.MemberListResponse{
			Header: &etcdserverpb.ResponseHeader{ClusterId: 7}, Members: []*etcdserverpb.Member{{ID: 1, Name: "db-1", ClientURLs: urls, PeerURLs: urls}},
		})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var answer etcdserverpb.MemberListResponse
		if proto.Unmarshal(text, &answer) != nil {
			return
		}
		listed := members(answer.Members)
		if checked(listed) != nil {
			return
		}
		view := View{ClusterID: answer.Header.GetClusterId(), Members: ours().divide(listed)}
		for _, at := range endpoints(view.Members) {
			if ours().own(at) != nil {
				t.Errorf("%q would be asked", at)
			}
		}
		view.fill(ours().Endpoints, map[string]MemberStatus{ours().Endpoints[0]: {ID: 1, ClusterID: 7, Leader: 1}})
		_, _ = view.informed()
		_ = view.matters()
		_ = DefaultInterval(view)
	})
}

// FuzzURL compares the endpoints of a target with arbitrary URLs that a member may publish.
func FuzzURL(f *testing.F) {
	f.Add("https://db-1.db.shop.svc.cluster.local:2379")
	f.Add("https://db-1.db.shop.svc:2379/%2f")
	f.Fuzz(func(t *testing.T, url string) {
		if at, own := ours().Own(url); own && ours().own(at) != nil {
			t.Errorf("%q stands for %q", url, at)
		}
	})
}

func FuzzAlarm(f *testing.F) {
	f.Add("memberID:10501334649042878790 alarm:NOSPACE")
	f.Add("memberID: 1 alarm: CORRUPT")
	f.Fuzz(func(t *testing.T, line string) {
		status := MemberStatus{Errors: shortened([]string{line, line})}
		view := View{Status: map[uint64]MemberStatus{1: status}}
		for _, alarm := range view.Alarms() {
			if len(alarm.String()) > mostTrouble+64 {
				t.Errorf("an alarm is as long as %q", alarm)
			}
		}
	})
}

func FuzzVersion(f *testing.F) {
	f.Add([]byte(`{"etcdserver":"3.6.8","etcdcluster":"3.6.0"}`))
	f.Add([]byte(`{"etcdcluster":"not_decided"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if said, err := parseVersion(body); err == nil && len(said) > mostWord {
			t.Errorf("%q is a version", said)
		}
	})
}
