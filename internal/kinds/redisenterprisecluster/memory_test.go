// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/redis"
)

func TestAClusterIsKnownSinceItWasFirstSeen(t *testing.T) {
	key, m := types.NamespacedName{Namespace: "shop", Name: "rec"}, &memory{}
	since := func(uid types.UID, now time.Time) time.Time {
		m.isAnother(key, uid)
		return m.recall(key, now, func(map[string]string) bool { return true }).since
	}
	later := noon.Add(time.Minute)
	if first, again := since("one", noon), since("one", later); first != noon || again != noon {
		t.Errorf("expected it to be known since noon, got %s and %s", first, again)
	}
	if other := since("another", later); other != later {
		t.Errorf("expected another of its name to be known since it was seen, got %s", other)
	}
}

func TestAReplicaThatWasAskedToLeadIsLeftAloneForAWhile(t *testing.T) {
	old, free := redis.Version{Number: "7.0.15"}, redis.Version{Number: "8.1.1", Valkey: true}
	for name, test := range map[string]struct {
		version redis.Version
		err     error
		want    bool
	}{
		"it was elected":                       {old, nil, true},
		"it was not elected":                   {old, redis.ErrNotElected, true},
		"it could not be asked":                {old, errors.New("refused"), false},
		"it was elected, and is again at once": {free, nil, false},
	} {
		c := &redisv1alpha1.RedisEnterpriseCluster{}
		r := &reconciler{Tools: &kit.Tools{Clock: clocktesting.NewFakeClock(noon)}}
		guest := server{address: "10.0.0.1:6380", run: "run", version: test.version}
		r.noteElection(c, guest, test.err)
		for _, after := range []time.Duration{19 * time.Second, 20 * time.Second} {
			now, want := noon.Add(after), test.want && after < 20*time.Second
			known := r.memory.recall(client.ObjectKeyFromObject(c), now, func(map[string]string) bool { return true })
			if got := (servers{guest}).elected(known.elections, now)[guest.address]; got != want {
				t.Errorf("%s: expected it to be left alone after %s: %t", name, after, want)
			}
		}
	}
}
