// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"testing"
	"time"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

// denied simulates that opcrew must not create pods of this spec, because the user who last edited the cluster may not
// read a Secret that the pods use.
func denied(w world) world {
	w.unsafe = model.NewObstacle(common.ReasonRequesterMayNot, "bob may not get secrets bank")
	return w
}

func TestTheNextStepIsTheFirstRungOnWhichThereIsSomethingToDo(t *testing.T) {
	plain, claims := clustertest.New(), clustertest.New(clustertest.WithClaims)
	n := func(serial int64) string { return model.MemberName(plain, serial) }
	for name, test := range map[string]struct {
		world world
		want  string
	}{
		"all is well":                            {observed(plain, 3), "nothing"},
		"all is well, claims":                    {observed(claims, 3), "nothing"},
		"more are asked for":                     {observed(plain, 3).asks(clustertest.Sized(5)), "add member " + n(3)},
		"one was added":                          {observed(plain, 3).asks(clustertest.Sized(4)).joining(3, false), "wait for " + n(3) + " to join: its pod is being created"},
		"one has joined":                         {observed(plain, 3).asks(clustertest.Sized(4)).with(3, true), "promote member " + n(3)},
		"one has joined, and does not serve yet": {observed(plain, 3).asks(clustertest.Sized(4)).with(3, true).down(3), "wait for " + n(3) + " to join: container etcd runs, and its readiness probe does not succeed yet"},
		"it votes":                               {observed(plain, 4).hidden(3).asks(clustertest.Sized(4)), "show 1 to clients"},
		"one cannot join":                        {observed(plain, 3).asks(clustertest.Sized(4)).joining(3, true).silent(3, time.Hour), "remove member " + n(3)},
		"while one joins no other is added, even if all are well": {observed(plain, 3).asks(clustertest.Sized(5)).joining(3, true), "wait for " + n(3) + " to join: the pod is starting"},
		"a kubelet has not said yet that the last is ready":       {observed(plain, 4).unprobed(3).asks(clustertest.Sized(5)), "add member " + n(4)},
		"nor before one is taken away":                            {observed(plain, 5).unprobed(3).asks(clustertest.Sized(3)), "wait for " + n(3) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"nor before one is stopped":                               {observed(plain, 3).unprobed(2).asks(clustertest.Versioned("3.5.36")), "wait for " + n(2) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"fewer are asked for":                                     {observed(plain, 5).asks(clustertest.Sized(3)), "remove member " + n(4)},
		"fewer, and the newest leads":                             {leads(observed(plain, 3), 2).asks(clustertest.Sized(1)), "move the leadership to " + n(0)},
		"fewer, and a node is cordoned":                           {observed(plain, 5).cordoned(2).asks(clustertest.Sized(3)), "remove member " + n(2)},
		"a node is cordoned, and no fewer":                        {observed(plain, 3).cordoned(2), "nothing"},
		"fewer, and the leader's node is cordoned":                {observed(plain, 5).cordoned(0).asks(clustertest.Sized(3)), "move the leadership to " + n(1)},
		"and it has handed over":                                  {leads(observed(plain, 5).cordoned(0), 1).asks(clustertest.Sized(3)), "remove member " + n(0)},
		"fewer, a node is cordoned, and another is not well":      {observed(plain, 5).cordoned(2).down(1).asks(clustertest.Sized(3)), "wait for " + n(1) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"fewer, a node is cordoned, and another is lost":          {observed(plain, 5).cordoned(2).without(1).asks(clustertest.Sized(3)), "remove member " + n(1)},
		"fewer, a node is cordoned, and there is no quorum":       {observed(claims, 5).cordoned(2).down(0, 1, 3).asks(clustertest.Sized(3)), "wait for a response of the cluster"},
		"fewer, and one is not well":                              {observed(plain, 5).down(1).asks(clustertest.Sized(3)), "wait for " + n(1) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"a pod is gone, emptyDir":                                 {observed(plain, 3).without(1), "remove member " + n(1)},
		"a pod is gone, claim":                                    {observed(claims, 3).without(1), "wait for " + n(1) + " to be healthy: its pod is being created"},
		"claim and pod are gone":                                  {observed(claims, 3).without(1).unclaimed(1), "remove member " + n(1)},
		"an empty volume":                                         {observed(claims, 3).refused(1, etcdstart.VolumeLost), "remove member " + n(1)},
		"a volume was mounted late once, long ago":                {observed(claims, 3).onceRefused(1).unprobed(1), "wait for " + n(1) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"and does not answer now":                                 {observed(claims, 3).onceRefused(1).down(1), "wait for " + n(1) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"a volume of another member":                              {observed(claims, 3).refused(1, etcdstart.VolumeForeign), "remove member " + n(1)},
		"etcd ended by itself":                                    {observed(claims, 3).refused(1, etcdstart.EtcdEnded), "wait for " + n(1) + " to be healthy: container etcd crashes (last: Error, exit code 3: {\"reason\":\"EtcdEnded\",\"message\":\"no log in /var/etcd/data\"})"},
		"two of three are gone":                                   {observed(plain, 3).without(1, 2), "wait for a response of the cluster"},
		"a lost one goes before growth":                           {observed(plain, 3).without(1).asks(clustertest.Sized(5)), "remove member " + n(1)},
		"after it was taken out":                                  {observed(plain, 2), "add member " + n(3)},
		"a node is silent for a while":                            {observed(claims, 3).down(1).silent(1, time.Minute), "wait for " + n(1) + " to be healthy: container etcd runs, and its readiness probe does not succeed yet"},
		"a node is silent for too long":                           {observed(claims, 3).down(1).silent(1, 5*time.Minute), "remove member " + n(1)},
		"its node is gone":                                        {observed(claims, 3).serverless(1), "remove member " + n(1)},
		"its volume went with its node":                           {observed(claims, 3).unplaced(1, time.Hour, nil), "remove member " + n(1)},
		"its volume's node may be restarted":                      {observed(claims, 3).unplaced(1, time.Minute, nil), "wait for " + n(1) + " to be healthy: the pod cannot be scheduled: 0/1 nodes are available"},
		"its volume's node is there, and has no room":             {observed(claims, 3).unplaced(1, time.Hour, &model.Node{}), "wait for " + n(1) + " to be healthy: the pod cannot be scheduled: 0/1 nodes are available"},
		"its node is silent, and it answers":                      {observed(claims, 3).silent(1, time.Hour), "nothing"},
		"a voter is lost and another is down":                     {observed(claims, 4).without(1).unclaimed(1).down(2), "wait for a response of the cluster"},
		"another version":                                         {observed(plain, 3).asks(clustertest.Versioned("3.5.36")), "change " + n(1) + " to 3.5.36"},
		"the next minor":                                          {observed(plain, 3).asks(clustertest.Versioned("3.6.16")), "change " + n(1) + " to 3.6.16"},
		"over two minors":                                         {observed(plain, 3).asks(clustertest.Versioned("3.7.3")), "change " + n(1) + " to 3.6.16"},
		"the next minor, and the last is not agreed on":           {observed(plain, 3).asks(clustertest.Versioned("3.6.16")).speaking("3.4.0"), "wait for the members to agree on cluster version 3.5 (it is still 3.4)"},
		"and a member of it cannot be asked":                      {observed(plain, 3).asks(clustertest.Versioned("3.6.16")).speaking("3.4.0").mute("answers 421"), "wait for the members to agree on cluster version 3.5 (it is still 3.4): answers 421"},
		"the version is unknown":                                  {observed(plain, 3).asks(clustertest.Versioned("3.6.16")).speaking(""), "wait for the cluster to report its cluster version, on which the members agree"},
		"the version is unknown, and why":                         {observed(plain, 3).asks(clustertest.Versioned("3.6.16")).speaking("").mute("answers 421"), "wait for the cluster to report its cluster version, on which the members agree: answers 421"},
		"another patch needs no agreement":                        {observed(plain, 3).asks(clustertest.Versioned("3.5.36")).speaking("3.4.0"), "change " + n(1) + " to 3.5.36"},
		"nor does going back while mixed":                         {observed(plain, 3).running(1, "3.6.16", "3.6.16").speaking(""), "change " + n(1) + " to 3.5.35"},
		"nor what is no version":                                  {observed(claims, 3).asks(clustertest.WithEnv("A", "1")).speaking(""), "recreate " + n(1)},
		"one minor is entered, and it is agreed on":               {entered("3.6.16").asks(clustertest.Versioned("3.7.3"), formedOn("3.6.16")), "change " + n(1) + " to 3.7.3"},
		"and it is not":                                           {entered("3.6.16").asks(clustertest.Versioned("3.7.3")).speaking("3.5.0"), "wait for the members to agree on cluster version 3.6 (it is still 3.5)"},
		"one has the next, and the others are to follow":          {entered("3.6.16").running(1, "3.7.3", "3.7.3").asks(clustertest.Versioned("3.7.3"), formedOn("3.6.0")), "change " + n(2) + " to 3.7.3"},
		"3.4, as it was before anybody had met":                   {entered("3.4.44").asks(clustertest.Versioned("3.5.35")).speaking("3.0.0"), "wait for the members to agree on cluster version 3.4 (it is still 3.0)"},
		"3.4, when all have met":                                  {entered("3.4.44").asks(clustertest.Versioned("3.5.35")).speaking("3.4.0"), "change " + n(1) + " to 3.5.35"},
		"one is on its way":                                       {observed(plain, 3).asks(clustertest.Versioned("3.6.16")).running(1, "3.5.35", "3.6.16"), "wait for " + n(1) + " to be healthy"},
		"one has it":                                              {observed(plain, 3).asks(clustertest.Versioned("3.6.16")).running(1, "3.6.16", "3.6.16"), "change " + n(2) + " to 3.6.16"},
		"the leader is the last":                                  {observed(plain, 3).asks(clustertest.Versioned("3.6.16")).running(1, "3.6.16", "3.6.16").running(2, "3.6.16", "3.6.16"), "move the leadership to " + n(1)},
		"it has handed over":                                      {leads(observed(plain, 3).asks(clustertest.Versioned("3.6.16")).running(1, "3.6.16", "3.6.16").running(2, "3.6.16", "3.6.16"), 1), "change " + n(0) + " to 3.6.16"},
		"back while mixed":                                        {observed(plain, 3).running(1, "3.6.16", "3.6.16"), "change " + n(1) + " to 3.5.35"},
		"a bad image is taken back":                               {observed(plain, 3).unpulled(1).running(1, "", "3.5.99"), "change " + n(1) + " to 3.5.35"},
		// Regressions: a user could not correct a bad change if it affected the only member, or a majority.
		"a bad image of the only member is taken back": {observed(clustertest.New(clustertest.Sized(1)), 1).unpulled(0).running(0, "", "3.5.99"), "change " + n(0) + " to 3.5.35"},
		"a bad field of a majority is taken back":      {observed(claims, 3).asks(clustertest.WithEnv("A", "bad")).unpulled(1, 2), "recreate " + n(1)},
		// Regression: one member could not start a bad version. A second member once failed to answer, and opcrew then
		// changed this second member to the bad version, too.
		"a bad version goes no further":         {observed(plain, 5).asks(clustertest.Versioned("3.5.99")).unpulled(1).running(1, "", "3.5.99").down(2), "wait for " + n(1) + " to be healthy: container etcd: ImagePullBackOff: not found"},
		"nor to a second one that cannot start": {observed(plain, 5).asks(clustertest.Versioned("3.5.99")).unpulled(1, 2).running(1, "", "3.5.99"), "wait for " + n(1) + " to be healthy: container etcd: ImagePullBackOff: not found"},
		// Regressions: a member that could not join blocked every other change of the cluster.
		"one is lost while another joins":  {observed(plain, 5).without(1).asks(clustertest.Sized(6)).joining(5, true), "remove member " + n(1)},
		"it is not wanted any more":        {observed(plain, 3).joining(3, true), "remove member " + n(3)},
		"it is ready, and does not answer": {observed(plain, 3).asks(clustertest.Sized(4)).with(3, true).aloof(3, 2*time.Minute), "remove member " + n(3)},
		"it has been ready for a moment":   {observed(plain, 3).asks(clustertest.Sized(4)).with(3, true).aloof(3, 119*time.Second), "wait for " + n(3) + " to join: error reading server preface"},
		"it was made for an earlier spec":  {observed(plain, 3).joining(3, true).asks(clustertest.Sized(4), clustertest.WithEnv("A", "1")), "remove member " + n(3)},
		// Regression: a member that did not answer changed from etcd 3.5 to 3.7 and skipped 3.6.
		"over two minors, and the last is silent": {observed(plain, 3).asks(clustertest.Versioned("3.7.3")).running(1, "3.6.16", "3.6.16").running(2, "3.6.16", "3.6.16").unpulled(0), "change " + n(0) + " to 3.6.16"},
		"a downgrade":                       {observed(plain, 3).asks(clustertest.Versioned("3.4.44")), "nothing"},
		"a version that is none":            {observed(plain, 3).asks(clustertest.Versioned("latest"), clustertest.Sized(5)), "nothing"},
		"another field, claims":             {observed(claims, 3).asks(clustertest.WithEnv("A", "1")), "recreate " + n(1)},
		"another field, emptyDir":           {observed(plain, 3).asks(clustertest.WithEnv("A", "1")), "add member " + n(3)},
		"its successor is there":            {observed(plain, 3).asks(clustertest.WithEnv("A", "1")).with(3, false), "remove member " + n(2)},
		"another field, one of one":         {observed(clustertest.New(clustertest.WithClaims, clustertest.Sized(1)), 1).asks(clustertest.WithEnv("A", "1")), "recreate " + n(0)},
		"hibernate":                         {observed(claims, 3).asks(clustertest.Hibernates), "nothing"},
		"hibernate is nothing for emptyDir": {observed(plain, 3).asks(clustertest.Hibernates, clustertest.Sized(5)), "add member " + n(3)},
		"there is no view yet":              {unseen(observed(plain, 3).asks(clustertest.Sized(5))), "wait for a response of the cluster"},
		"a step was taken just now":         {stale(observed(plain, 3).asks(clustertest.Sized(5))), "wait for the next read of the members"},
		// Regression: opcrew deleted a member's pod, or added a learner, and only then found that the user who edited
		// the cluster lacked a permission for the new pod.
		"what the requester may not use, claims":   {denied(observed(claims, 3).asks(clustertest.WithEnv("A", "1"))), "nothing"},
		"what the requester may not use, emptyDir": {denied(observed(plain, 3).asks(clustertest.WithEnv("A", "1"), clustertest.Sized(5))), "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.world.decide(test.world.c).says(); got != test.want {
				t.Errorf("expected the operator to %s, it is to %s", test.want, got)
			}
		})
	}
}
