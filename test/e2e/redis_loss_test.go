// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// redisSlots is the number of hash slots in a Redis cluster.
const redisSlots = clusternodes.LastSlot + 1

// slotOf returns the hash slot of a key that contains no braces. The slot is derived from the CRC16 (XMODEM) of the
// key: see "Key distribution model" in the cluster specification.
func slotOf(key string) int {
	sum := uint16(0)
	for _, b := range []byte(key) {
		sum ^= uint16(b) << 8
		for range 8 {
			top := sum & 0x8000
			if sum <<= 1; top != 0 {
				sum ^= 0x1021
			}
		}
	}
	return int(sum) % redisSlots
}

// oneOfEach returns one key for each slot, sorted by slot.
func oneOfEach() []string {
	out, missing := make([]string, redisSlots), redisSlots
	for n := 0; missing > 0; n++ {
		key := fmt.Sprint("key:", n)
		if slot := slotOf(key); out[slot] == "" {
			out[slot] = key
			missing--
		}
	}
	return out
}

// pipelined is the number of commands that a client sends in one pipeline.
const pipelined = 1024

// putAll writes a different value for each key. Each value starts with the given words.
func (c *redisClient) putAll(t *testing.T, keys []string, words string) {
	t.Helper()
	for some := range slices.Chunk(keys, pipelined) {
		_, err := c.Pipelined(t.Context(), func(p goredis.Pipeliner) error {
			for _, key := range some {
				p.Set(t.Context(), key, words+key, 0)
			}
			return nil
		})
		if err != nil {
			t.Fatalf("expected every slot to be written to, from that of %s on: %v", some[0], err)
		}
	}
}

// getAll returns the values of the keys, with "" for a missing value.
func (c *redisClient) getAll(t *testing.T, keys []string) []string {
	t.Helper()
	var out []string
	for some := range slices.Chunk(keys, pipelined) {
		answers, err := c.Pipelined(t.Context(), func(p goredis.Pipeliner) error {
			for _, key := range some {
				p.Get(t.Context(), key)
			}
			return nil
		})
		if err != nil && !errors.Is(err, goredis.Nil) {
			t.Fatalf("expected every slot to be read from, from that of %s on: %v", some[0], err)
		}
		for _, answer := range answers {
			out = append(out, answer.(*goredis.StringCmd).Val())
		}
	}
	return out
}

// wantAllOf checks that the value of every key starts with the given words.
func (c *redisClient) wantAllOf(t *testing.T, keys []string, words, what string) {
	t.Helper()
	wrong := 0
	for i, got := range c.getAll(t, keys) {
		if got != words+keys[i] {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("expected to find %s as they were written; %d of %d are not", what, wrong, len(keys))
	}
}

// bereave deletes pods and their claims, so that the replacements start without data.
func (r *redisTest) bereave(t *testing.T, pods ...corev1.Pod) {
	t.Helper()
	old := map[string]bool{}
	remove := []string{"delete", "pod", "-n", r.ns, "--force", "--grace-period=0"}
	for _, pod := range pods {
		claim := &corev1.PersistentVolumeClaim{}
		if err := r.Get(t.Context(), client.ObjectKey{Namespace: r.ns, Name: "redis-enterprise-storage-" + pod.Name}, claim); err != nil {
			t.Fatal(err)
		}
		old[string(claim.UID)] = true
		r.kubectl(t, "delete", "pvc", "-n", r.ns, claim.Name, "--wait=false")
		remove = append(remove, pod.Name)
	}
	r.kubectl(t, remove...) // delete all in one command, so that no server fails over to its replica first
	eventually.True(t, 3*time.Minute, "the pods use new claims", func() error {
		claims := &corev1.PersistentVolumeClaimList{}
		if err := r.List(t.Context(), claims, client.InNamespace(r.ns)); err != nil {
			return err
		}
		for _, claim := range claims.Items {
			if old[string(claim.UID)] {
				return fmt.Errorf("%s is there", claim.Name)
			}
		}
		if len(claims.Items) != len(r.pods(t)) {
			return fmt.Errorf("there are %d claims", len(claims.Items))
		}
		return nil
	})
}

// lossReported returns the message of Ready. It returns an error unless the message reports the given lost slots.
func (r *redisTest) lossReported(t *testing.T, slots string) (message string, err error) {
	t.Helper()
	ready := meta.FindStatusCondition(r.get(t).Status.Conditions, redisv1alpha1.ConditionReady)
	if ready == nil || ready.Reason != redisv1alpha1.ReasonDataMissing || !strings.Contains(ready.Message, "slots "+slots+" is lost") {
		return "", fmt.Errorf("Ready is %+v", ready)
	}
	return ready.Message, nil
}

func TestAShardOfARedisClusterWhoseVolumesAreGoneIsGivenUpByTheReportedCommand(t *testing.T) {
	r := newRedisTest(t, persistentRedis)
	o, keys := r.observe(t), oneOfEach()
	r.client(t).putAll(t, keys, "before:")
	shard := r.get(t).Status.Slots[0]
	var first, last int
	if _, err := fmt.Sscanf(shard.Slots, "%d-%d", &first, &last); err != nil || shard.Pod != redisName+"-0" || shard.Place != redisv1alpha1.Home {
		t.Fatalf("expected the first shard to have a range of slots, got %+v (%v)", shard, err)
	}
	lost, others := keys[first:last+1], slices.Concat(keys[:first], keys[last+1:])
	r.bereave(t, r.pods(t)[:2]...)

	var message string
	eventually.True(t, 5*time.Minute, "Ready names the lost slots", func() (err error) {
		message, err = r.lossReported(t, shard.Slots)
		return err
	})
	t.Log(message)
	eventually.True(t, 3*time.Minute, "all pods except those of the lost shard are ready", func() error {
		if served := redisSlots - len(lost); !strings.Contains(r.available(t), fmt.Sprintf("%d of %d slots", served, redisSlots)) {
			return errors.New(r.available(t))
		}
		return nil
	})
	c := r.client(t)
	c.wantAllOf(t, others, "before:", "keys of the other shards")
	eventually.Stays(t, 15*time.Second, "the operator gives up no data by itself", func() error {
		if err := c.Set(t.Context(), lost[0], "written", 0).Err(); err == nil {
			return errors.New("a lost slot has a primary")
		}
		_, err := r.lossReported(t, shard.Slots)
		return err
	})

	_, command, _ := strings.Cut(message, "kubectl ")
	r.kubectl(t, strings.Fields(command)...)
	began := time.Now()
	r.wantRing(t, r.await(t, 3), 3)
	t.Logf("Ready %s after the command", time.Since(began).Round(100*time.Millisecond))
	c = r.client(t)
	c.wantAllOf(t, others, "before:", "keys of the other shards")
	for _, got := range c.getAll(t, lost) {
		if got != "" {
			t.Fatalf("expected nothing of what was lost, got %q", got)
		}
	}
	c.putAll(t, keys, "after:")
	c.wantAllOf(t, keys, "after:", "new values in all slots")
	o.wantOneLeader(t)
	if at := meta.FindStatusCondition(r.get(t).Status.Conditions, redisv1alpha1.ConditionDataAtRisk); at != nil {
		t.Errorf("expected no data to be at risk any more, got %+v", at)
	}
	if events := r.kubectl(t, "get", "events", "-n", r.ns, "--field-selector", "reason=DataLossAccepted"); !strings.Contains(events, shard.Slots) {
		t.Errorf("expected an event to tell that slots %s were given up, got %s", shard.Slots, events)
	}
}

// available returns the message of the condition Available.
func (r *redisTest) available(t *testing.T) string {
	t.Helper()
	available := meta.FindStatusCondition(r.get(t).Status.Conditions, redisv1alpha1.ConditionAvailable)
	if available == nil {
		return ""
	}
	return available.Message
}
