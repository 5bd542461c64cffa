// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/test/faults"
	"github.com/opcrew/opcrew/test/testenv/redispods"
)

// redisLosing wipes the volumes of both servers of a shard. The user then accepts the loss of the data with the command
// that the status shows.
func redisLosing(wipe func(pods ...*corev1.Pod)) faults.Workload {
	return faults.Workload{
		Name: "losing",
		Steps: []faults.Step{
			createRedis(3, "persistentSpec: {enabled: true, volumeSize: 1Gi}"),
			writeRedis,
			{
				Name:     "the volumes of two pods are lost, and with them both copies of the first shard",
				Do:       func(u *faults.User) { loseShard(u, wipe) },
				Until:    lossIsReported,
				Patience: time.Minute,
			},
			{
				Name:     "the user gives up the data with the reported command",
				Do:       giveUp,
				Until:    redisReady,
				Patience: 90 * time.Second,
			},
		},
	}
}

func loseShard(u *faults.User, wipe func(pods ...*corev1.Pod)) {
	list := &corev1.PodList{}
	u.List(list)
	if len(list.Items) < 2 {
		u.Must(fmt.Errorf("there are %d pods", len(list.Items)))
	}
	first := &list.Items[0]
	wipe(first, &list.Items[1])
	rings.GiveUp(redispods.Cluster(first.Namespace, "rec"))
}

// giveUp sets the annotation with which the user accepts the loss of data. The status of the cluster shows the key and
// the value of this annotation.
func giveUp(u *faults.User) {
	list := &redisv1alpha1.RedisEnterpriseClusterList{}
	u.List(list)
	for _, c := range list.Items {
		command, err := lossCommand(&c)
		u.Must(err)
		key, value, _ := strings.Cut(command, "=")
		u.Patch(c.Name, &redisv1alpha1.RedisEnterpriseCluster{}, fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value))
	}
}

// lossCommand extracts from the status the annotation with which the user accepts the loss of data.
func lossCommand(c *redisv1alpha1.RedisEnterpriseCluster) (string, error) {
	for _, kind := range []string{redisv1alpha1.ConditionDataAtRisk, redisv1alpha1.ConditionReady} {
		reported := meta.FindStatusCondition(c.Status.Conditions, kind)
		if reported == nil || reported.Reason != redisv1alpha1.ReasonDataMissing || !strings.Contains(reported.Message, "slots 0-5460 ") {
			return "", fmt.Errorf("%s does not report the loss: %+v", kind, reported)
		}
	}
	words := strings.Fields(meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionReady).Message)
	return words[len(words)-1], nil
}

// lossIsReported holds if the status reports the loss and the command. All other slots must have a primary and a
// replica, and only the lost shard may have no primary.
func lossIsReported(v faults.View) error {
	c := &redisv1alpha1.RedisEnterpriseCluster{}
	if err := v.Get("rec", c); err != nil {
		return err
	}
	if _, err := lossCommand(c); err != nil {
		return err
	}
	if c.Status.ReadyNodes != 2 || !meta.IsStatusConditionTrue(c.Status.Conditions, redisv1alpha1.ConditionRedundant) {
		return fmt.Errorf("the other shards are not healthy yet: %+v", c.Status)
	}
	return soon(func() error {
		if lost := rings.Lost(redispods.Cluster(c.Namespace, c.Name)); len(lost) > 0 {
			return fmt.Errorf("%d keys that were not lost are missing, such as %s", len(lost), lost[0])
		}
		return nil
	})
}
