// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// The expected IDs were read from a cluster of etcd 3.6.8.
func TestFirstMembersHaveTheIDsThatEtcdGivesThem(t *testing.T) {
	for url, want := range map[string]uint64{
		"http://127.0.0.1:32380": 16086437230762663690,
		"http://127.0.0.1:32480": 11138875984650359542,
		"http://127.0.0.1:32580": 2372763127236249167,
	} {
		if got := BootstrapID([]string{url}, "tok-1"); got != want {
			t.Errorf("expected %s to be member %d, got %d", url, want, got)
		}
	}
	if BootstrapID([]string{"http://a:2380", "http://b:2380"}, "t") != BootstrapID([]string{"http://b:2380", "http://a:2380"}, "t") {
		t.Error("expected the order of peer URLs to mean nothing")
	}
}

func TestRefusalsDifferFromFailures(t *testing.T) {
	for _, test := range []struct{ err, want error }{
		{rpctypes.ErrGRPCLearnerNotReady, ErrLearnerNotReady},
		{rpctypes.ErrGRPCUnhealthy, ErrUnhealthy},
		{rpctypes.ErrGRPCMemberNotEnoughStarted, ErrUnhealthy},
		{rpctypes.ErrGRPCMemberNotFound, ErrMemberNotFound},
		{rpctypes.ErrGRPCPeerURLExist, ErrPeerURLExists},
		{rpctypes.ErrGRPCMemberExist, ErrPeerURLExists},
		{rpctypes.ErrGRPCTooManyLearners, ErrTooManyLearners},
		{rpctypes.ErrGRPCMemberNotLearner, ErrNotLearner},
		{rpctypes.ErrGRPCNoLeader, ErrNoLeader},
		{rpctypes.ErrGRPCNotLeader, ErrNotLeader},
		{rpctypes.Error(rpctypes.ErrGRPCUnhealthy), ErrUnhealthy},
		{context.DeadlineExceeded, context.DeadlineExceeded},
		{fmt.Errorf("call: %w", context.Canceled), context.Canceled},
	} {
		if got := typed(test.err); !errors.Is(got, test.want) {
			t.Errorf("expected %v to be %v, got %v", test.err, test.want, got)
		}
	}
	for _, refusal := range refusals {
		if errors.Is(typed(rpctypes.ErrGRPCTimeout), refusal.ours) {
			t.Errorf("expected a timeout to be no refusal, got %v", refusal.ours)
		}
	}
}
