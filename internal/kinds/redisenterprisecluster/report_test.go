// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/desired"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/tuning"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// report sets the status at noon and returns the cluster.
func (s *scene) report() *clustertest.Cluster {
	reportAt(s.Cluster, s.look(), kit.Outcome{}, clustertest.Noon)
	return s.Cluster
}

func TestTheStatusNamesTheFirstCause(t *testing.T) {
	for name, test := range map[string]struct {
		scene *scene
		do    func(*scene)
		// wants maps condition types to the expected beginnings of their texts.
		wants map[string]string
		state string
		says  string // a text that Ready must contain
	}{
		"all is well": {scene: running(3), state: "Running", wants: map[string]string{
			"Ready":     "True AllPodsReady: 3 of 3 pods are ready and every slot is served",
			"Available": "True AllSlotsServed", "Redundant": "True AllShardsReplicated", "UpToDate": "True AllUpToDate",
			"DataAtRisk": "none", "Migrating": "none",
		}},
		"recovery is asked for and all is well": {scene: running(3), do: func(s *scene) { s.Spec.ClusterRecovery = true }, state: "Running", wants: map[string]string{
			"RecoveryRequested": "True NotNeeded: clusterRecovery has no effect, because opcrew recovers clusters without it. Every slot is served, and you can set clusterRecovery to false",
			"Ready":             "True",
		}},
		"recovery is asked for while slots are not served": {scene: running(3), do: func(s *scene) { s.Spec.ClusterRecovery = true; s.silence(0) }, state: "Error", wants: map[string]string{
			"RecoveryRequested": "True Recovering: clusterRecovery has no effect, because opcrew recovers clusters without it. 10923 of 16384 slots",
		}},
		"encryption is asked for": {scene: running(3), do: func(s *scene) { s.Spec.DataInternodeEncryption = "true" }, state: "Running", wants: map[string]string{
			"ProtectionMissing": "True ProtectionMissing: The spec requests a protection that opcrew does not implement: dataInternodeEncryption: replication and the cluster bus are not encrypted",
			"Ready":             "False ProtectionMissing", "FieldsIgnored": "True NotServed",
		}, says: "Remove the fields to accept that"},
		"encryption is switched off": {scene: running(3), do: func(s *scene) { s.Spec.DataInternodeEncryption = "false" }, state: "Running", wants: map[string]string{
			"ProtectionMissing": "none", "Ready": "True",
		}},
		"recovery is not asked for": {scene: running(3), state: "Running", wants: map[string]string{"RecoveryRequested": "none"}},
		"one pod alone":             {scene: running(1), state: "Running", wants: map[string]string{"Ready": "True AllPodsReady", "Redundant": "False TooFewNodes"}},
		"a pod is gone": {scene: running(3), do: func(s *scene) { s.swap("g1", "h0"); s.silence(0) }, state: "Running", wants: map[string]string{
			"Ready": "False Updating: 2 of 3 pods are ready; example-0: ", "Available": "True", "Redundant": "False ReplicaMissing",
		}},
		"a primary is lost, and others elect": {scene: running(3), do: func(s *scene) { s.silence(0) }, state: "Error", wants: map[string]string{
			"Ready": "False SlotsUnserved: 10923 of 16384 slots",
		}},
		"a replica that was restarted waits for its primary": {scene: running(3), do: func(s *scene) {
			s.procs["g1"].LinkUp, s.procs["g1"].Unlinked, s.procs["g1"].Keys = false, true, 9
			s.ghosts = []redis.Peer{{ID: "h0", Role: redis.Primary, Slots: s.procs["h0"].Slots}}
			s.silence(0)
		}, state: "Error", wants: map[string]string{
			"Ready":      "False SlotsUnserved: 10923 of 16384 slots are served by 2 primaries; slots 0-5460 have no primary that answers; servers that do not answer: home server of example-0, guest server of example-0: slots 0-5460 have no primary: the guest server of pod 1 has a copy but may lack the last writes",
			"DataAtRisk": "none",
		}},
		"no server reaches the others": {scene: running(3), do: func(s *scene) {
			s.deaf = map[string]bool{"h0": true, "h1": true, "h2": true, "g0": true, "g1": true, "g2": true}
		}, state: "RecoveringFirstPod", wants: map[string]string{
			"Ready": "False SlotsUnserved: 0 of 16384 slots are served by 0 primaries; requests for slots 0-16383 are refused: the home server of example-0 considers the cluster down, " +
				"because it reaches only 1 of 3 primaries; check that no NetworkPolicy blocks the cluster bus (ports 16379 and 16380)",
			"DataAtRisk": "none", "Redundant": "True",
		}},
		"one reaches no other": {scene: running(3), do: func(s *scene) { s.deaf = map[string]bool{"h1": true} }, state: "Error", wants: map[string]string{
			"Ready": "False SlotsUnserved: 10922 of 16384 slots are served by 2 primaries; requests for slots 5461-10922 are refused: the home server of example-1 considers",
		}},
		"a primary has just been started": {scene: running(3), do: func(s *scene) { s.procs["h0"].ClusterOK = false }, state: "Error", wants: map[string]string{
			"Ready": "False SlotsUnserved: 10923 of 16384 slots are served by 2 primaries; requests for slots 0-5460 are refused: the home server of example-0 considers the cluster down, and will consider it up again in a moment",
		}},
		"a replica has just been started": {scene: running(3), do: func(s *scene) { s.procs["g0"].ClusterOK = false }, state: "Running", wants: map[string]string{
			"Available": "True AllSlotsServed", "Ready": "True",
		}},
		"a primary is cut off and its replica leads": {scene: running(3), do: func(s *scene) {
			slots := s.procs["h0"].Slots
			s.swap("g1", "h0")
			*s.procs["h0"] = redis.NodeStatus{ID: "h0", RunID: "run-h0", Role: redis.Primary, Slots: slots, Version: redis.Version{Number: "7.0.15"}}
			s.deaf = map[string]bool{"h0": true}
		}, state: "Running", wants: map[string]string{"Available": "True AllSlotsServed: 16384 of 16384 slots are served by 3 primaries"}},
		"a new cluster takes no client yet": {scene: running(3), do: func(s *scene) {
			s.Status.Conditions = nil
			s.procs["h1"].ClusterOK = false
		}, state: "Initializing", wants: map[string]string{"Available": "False Creating: The servers are forming a cluster: the home server of pod 1 considers the cluster down"}},
		"too few are left to vote": {scene: running(3), do: func(s *scene) {
			s.ghosts = []redis.Peer{{ID: "h0", Role: redis.Primary, Slots: s.procs["h0"].Slots}, {ID: "h1", Role: redis.Primary, Slots: s.procs["h1"].Slots}}
			s.silence(0, 1)
		}, state: "Error", wants: map[string]string{"Ready": "False QuorumLost: "}},
		"no server answers": {scene: running(3), do: func(s *scene) { s.silence(0, 1, 2) }, state: "RecoveringFirstPod", wants: map[string]string{
			"Ready": "False Unreachable: No server answers; the home server of example-0 does not answer: connection refused",
		}},
		"all start again": {scene: running(3), do: func(s *scene) { s.crash(0, 1, 2) }, state: "RecoveringFirstPod", wants: map[string]string{
			"Ready": "False Recovering",
		}},
		"all of it starts again without volumes": {scene: running(3), do: func(s *scene) { s.silence(0, 1, 2); s.Pods = nil }, state: "RecoveringFirstPod", wants: map[string]string{
			"DataAtRisk": "none",
		}},
		"at first": {scene: running(3), do: func(s *scene) { s.Status.Conditions = nil; s.silence(0) }, state: "Initializing", wants: map[string]string{
			"Ready": "False Creating: The servers are forming a cluster",
		}},
		"an image cannot be pulled": {scene: running(3), do: func(s *scene) {
			s.Status.Conditions = nil
			s.silence(0, 1, 2)
			for i := range s.pod(0).Status.ContainerStatuses {
				s.pod(0).Status.ContainerStatuses[i].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}
			}
		}, state: "BootstrappingFirstPod", wants: map[string]string{
			"Ready": "False PodsNotReady: 0 of 3 pods are ready; example-0: ", "Available": "False Creating",
		}},
		"pods are changed": {scene: running(3).changed(2), state: "RunningRollingUpdate", wants: map[string]string{
			"UpToDate": "False Updating: 2 of 3 pods match the spec; example-2 has yet to hand over its primary role: the home server of pod 2 hands the primary role over to the guest server of pod 0",
		}},
		"a home that is back leads again": {scene: running(3), do: func(s *scene) { s.swap("g1", "h0"); s.pod(0).Status.Conditions = nil }, state: "Running", wants: map[string]string{
			"PodsReady": "False FailingBack: 2 of 3 pods are ready; example-0: ",
		}},
		"a home hands over while another pod is not ready": {scene: running(3).changed(2), do: func(s *scene) { s.pod(1).Status.Conditions = nil }, state: "RunningRollingUpdate", wants: map[string]string{
			"PodsReady": "False Updating: 2 of 3 pods are ready; example-1: ",
			"UpToDate":  "False Updating: 2 of 3 pods match the spec; example-2 has yet to hand over its primary role: the home server of pod 2 hands the primary role over to the guest server of pod 0",
		}},
		"its data is nowhere else": {scene: running(1).changed(0), wants: map[string]string{
			"Ready": "False NoPersistence: pod example-0 is not restarted", "DataAtRisk": "True NoPersistence",
		}, state: "RunningRollingUpdate"},
		"slots move": {scene: running(3), do: func(s *scene) {
			wants(2)(s.Cluster)
			s.Cluster.Status.Move = &redisv1alpha1.Move{Reason: redisv1alpha1.ReasonScalingUp, SlotsMoved: 558, SlotsTotal: 6000}
			s.view.Move = &redis.Progress{Goal: 2, Shards: 3, Slots: 5461, Began: clustertest.Noon}
		}, state: "Running", wants: map[string]string{
			"Ready": "False ScalingDown: The number of pods is changing from 3 to 2: slots are being moved", "Migrating": "True ScalingDown: 0 of 5461 slots",
		}},
		"there is no room for what has to go": {scene: running(5).changed(0, 1, 2, 3, 4), do: func(s *scene) {
			wants(3)(s.Cluster)
			for _, p := range s.procs {
				p.MaxMemory, p.UsedMemory, p.Dataset = 100<<20, 80<<20, 79<<20
			}
		}, state: "RunningRollingUpdate", wants: map[string]string{
			"PodsReady": "False TooLittleMemory: The number of pods is changing from 5 to 3: the home server of pod 0 would receive about",
		}, says: "to update the pods first, set nodes back to 5 until UpToDate is True"},
		"a pod has come, and no slots yet": {scene: running(4), do: func(s *scene) {
			s.procs["h0"].Slots, s.procs["h3"].Slots = append(s.procs["h0"].Slots, s.procs["h3"].Slots...), nil
		}, state: "Running", wants: map[string]string{
			"Ready": "False ScalingUp: All pods are ready, but not all of them have their slots yet", "Available": "True",
		}},
		"a pod has come, and its server has not joined yet": {scene: running(4), do: func(s *scene) {
			s.procs["h0"].Slots, s.procs["h3"].Slots = append(s.procs["h0"].Slots, s.procs["h3"].Slots...), nil
			s.procs["h3"].Err = errors.New("connection refused")
		}, state: "Running", wants: map[string]string{
			"Ready": "False ScalingUp: All pods are ready, but not all of their servers have joined the cluster yet", "Available": "True",
		}},
		"a pod has come, and the move of slots to it fails": {scene: running(4), do: func(s *scene) {
			s.procs["h0"].Slots, s.procs["h3"].Slots = append(s.procs["h0"].Slots, s.procs["h3"].Slots...), nil
			s.view.Move = &redis.Progress{Goal: 4, Shards: 3, Slots: 4096, Began: clustertest.Noon, Ended: true, EndedAt: clustertest.Noon, Err: errors.New("no route to host"), Failures: 1}
		}, state: "Running", wants: map[string]string{
			"Ready": "False ScalingUp: All pods are ready, but not all of them have their slots yet: slots are being moved; the last attempt failed: no route to host", "Migrating": "True ScalingUp: 0 of 4096 slots have been moved, to spread them over 4 pods; the last attempt failed: no route to host",
		}},
		"a move fails when some slots have come": {scene: running(4), do: func(s *scene) {
			s.procs["h0"].Slots = append(s.procs["h0"].Slots, redis.SlotRange{First: 12288, Last: 16382})
			s.procs["h3"].Slots = redis.SlotsOf(16383)
			s.view.Move = &redis.Progress{Goal: 4, Shards: 4, Slots: 4096, Moved: 1, Began: clustertest.Noon, Ended: true, EndedAt: clustertest.Noon, Err: errors.New("no route to host"), Failures: 1}
		}, state: "Running", wants: map[string]string{
			"Ready": "False ScalingUp: All pods are ready, but not all of them have their slots yet", "Migrating": "True Rebalancing: 1 of 4096 slots have been moved, to spread them over 4 pods; the last attempt failed: no route to host",
		}},
		"a pod that has come has some of its slots": {scene: running(4), do: func(s *scene) {
			s.procs["h0"].Slots = append(s.procs["h0"].Slots, redis.SlotRange{First: 12288, Last: 16382})
			s.procs["h3"].Slots = redis.SlotsOf(16383)
			s.view.Move = &redis.Progress{Goal: 4, Shards: 3, Slots: 4096, Moved: 1, Began: clustertest.Noon}
		}, state: "Running", wants: map[string]string{
			"Ready": "False ScalingUp: All pods are ready, but not all of them have their slots yet: slots are being moved", "Migrating": "True ScalingUp: 1 of 4096",
		}},
		"a move had failed, and nothing is left to be moved": {scene: running(4), do: func(s *scene) {
			s.view.Move = &redis.Progress{Goal: 4, Slots: 4096, Began: clustertest.Noon, Ended: true, Err: errors.New("no route to host"), Failures: 1}
		}, state: "Running", wants: map[string]string{"Ready": "True", "Migrating": "none"}},
		"slots wait for a pod that is silent": {scene: running(4), do: waitForPod3, state: "Running", wants: map[string]string{
			"PodsReady": "False Updating: 3 of 4 pods are ready; example-3: the pod is starting: the guest server of pod 0 has 7 keys of slots that were being moved to its primary: waiting for the home server of pod 3",
			"Migrating": "True ScalingUp: 9 of 4096 slots have been moved; the guest server of pod 0 has 7 keys of slots",
		}},
		"a pod has handed over, and is ready yet": {scene: running(3), do: func(s *scene) { s.swap("g1", "h0") }, state: "Running", wants: map[string]string{
			"PodsReady": "True AllPodsReady",
		}},
		"a claim has no volume": {scene: running(3), do: func(s *scene) {
			s.pod(1).Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available"}}
			s.unbound.Pod, s.unbound.Words = "example-1", `its claim redis-enterprise-storage-example-1 has no volume: class "missing" not found`
		}, state: "Running", wants: map[string]string{
			"PodsReady": `False PodsNotReady: 2 of 3 pods are ready; example-1: its claim redis-enterprise-storage-example-1 has no volume: class "missing" not found`,
		}},
		"a primary is full": {scene: running(3), do: func(s *scene) {
			s.procs["h1"].UsedMemory, s.procs["h1"].MaxMemory = 99<<20, 100<<20
		}, state: "Running", wants: map[string]string{
			"Ready": "False WritesRefused: The memory of the home server of example-1 is full (100Mi), and the server refuses writes; increase the memory in", "Available": "True",
		}},
		"a primary that is full evicts keys": {scene: running(3, clustertest.With("redisConfig: {maxmemory-policy: allkeys-lru}")), do: func(s *scene) {
			s.procs["h1"].UsedMemory, s.procs["h1"].MaxMemory = 99<<20, 100<<20
		}, state: "Running", wants: map[string]string{"Ready": "True", "MemoryFull": "none"}},
		"a primary cannot write its log": {scene: running(3), do: func(s *scene) { s.procs["h1"].LogFails = true }, state: "Running", wants: map[string]string{
			"Ready": "False LogNotWritten: The home server of example-1 cannot write its append-only file, and it refuses writes; its disk is full or failing: read the log of container home, and free space on the disk of its node", "Available": "True",
		}},
		"a primary with a volume cannot write its log": {scene: running(3, clustertest.With(persistentSpec)), do: func(s *scene) { s.procs["h1"].LogFails = true }, state: "Running", wants: map[string]string{
			"StorageFailing": "True LogNotWritten: The home server of example-1 cannot write its append-only file, and it refuses writes; its disk is full or failing: read the log of container home, and enlarge the volume with persistentSpec.volumeSize and enablePersistentVolumeResize: true",
		}},
		"a replica cannot write its log": {scene: running(3), do: func(s *scene) { s.procs["g0"].LogFails = true }, state: "Running", wants: map[string]string{
			"Ready": "False LogNotWritten: The guest server of example-0 cannot write its append-only file, and its copy of the data is only in memory; its disk", "Redundant": "True",
		}},
		"pods get another image": {scene: running(3).changed(0), do: func(s *scene) {
			s.Set.Spec.Template.Spec.Containers = []corev1.Container{{Name: desired.HomeContainer, Image: "redis:8.0"}}
		}, state: "Upgrade", wants: map[string]string{"UpToDate": "False Updating: 2 of 3 pods match the spec"}},
		"a spec that cannot be": {scene: running(3), do: func(s *scene) { clustertest.With("redisConfig: {port: '1'}")(s.Cluster) }, state: "Invalid", wants: map[string]string{
			"Ready": "False InvalidSpec: redisConfig: port",
		}},
		"a setting is refused": {scene: running(3), do: func(s *scene) {
			s.known.Complaint, s.known.Complained = "maxmemory-policy: ERR", tuning.For(s.Cluster, s.credentials).Generation
		}, state: "Running", wants: map[string]string{
			"Ready": "False ConfigRefused: The servers refuse a setting of redisConfig: maxmemory-policy: ERR",
		}},
		"it hibernates": {scene: running(3, clustertest.With("{hibernate: true, persistentSpec: {enabled: true}}")), do: func(s *scene) {
			s.Set.Spec.Replicas, s.Pods = new(int32), nil
		}, state: "Hibernating", wants: map[string]string{"Ready": "True Hibernating", "Available": "False Hibernating"}},
		"it has not been looked at yet": {scene: running(3), do: func(s *scene) { s.seen = false }, state: "Running", wants: map[string]string{
			"Available": "True AllSlotsServed",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if test.do != nil {
				test.do(test.scene)
			}
			c := test.scene.report()
			for kind, want := range test.wants {
				if got := conditionText(c.Status.Conditions, kind); !strings.HasPrefix(got, want) {
					t.Errorf("%s: expected %q, got %q", kind, want, got)
				}
			}
			if got := conditionText(c.Status.Conditions, "Ready"); !strings.Contains(got, test.says) {
				t.Errorf("expected Ready to say %q, got %q", test.says, got)
			}
			if string(c.Status.State) != test.state {
				t.Errorf("expected state %s, got %s", test.state, c.Status.State)
			}
		})
	}
}

// waitForPod3 simulates an interrupted scale-out: the last of four pods has no slots yet, and its servers do not
// answer. Slot 5 is being moved to the shard of this pod. The shard's replica, g0 on the first pod, already has keys of
// slot 5.
func waitForPod3(s *scene) {
	s.procs["h0"].Slots, s.procs["h3"].Slots = append(s.procs["h0"].Slots, s.procs["h3"].Slots...), nil
	s.procs["h0"].Migrating, s.procs["g0"].Keys = map[int]string{5: "h3"}, 7
	s.Cluster.Status.Move = &redisv1alpha1.Move{Reason: redisv1alpha1.ReasonScalingUp, SlotsMoved: 9, SlotsTotal: 4096}
	s.silence(3)
}

func TestAFullMemoryIsReportedUntilThereIsClearlyRoom(t *testing.T) {
	s := running(3)
	s.procs["h1"].MaxMemory = 100 << 20
	for _, step := range []struct {
		used int64
		want string
	}{{95, "none"}, {98, "True WritesRefused"}, {95, "True WritesRefused"}, {80, "none"}, {95, "none"}} {
		s.procs["h1"].UsedMemory = step.used << 20
		if got := conditionText(s.report().Status.Conditions, redisv1alpha1.ConditionMemoryFull); !strings.HasPrefix(got, step.want) {
			t.Errorf("%d of 100 MiB are used: expected %q, got %q", step.used, step.want, got)
		}
	}
}

// An operator that has just started has not read the servers yet. It must keep what an earlier operator reported about
// the servers.
func TestAProcessThatHasNotLookedYetSaysWhatWasLastSaid(t *testing.T) {
	for name, do := range map[string]func(*scene){
		"a cluster that begins":      func(s *scene) { s.Status.Conditions = nil; s.silence(0) },
		"one whose pod has gone":     func(s *scene) { s.swap("g1", "h0"); s.silence(0) },
		"one whose data is moved":    func(s *scene) { s.silence(1) },
		"one whose pods are changed": func(s *scene) { s.changed(0, 1, 2) },
		"one that has grown": func(s *scene) {
			s.procs["h0"].Slots, s.procs["h2"].Slots = append(s.procs["h0"].Slots, s.procs["h2"].Slots...), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := running(3)
			do(s)
			s.report()
			before := s.report().Status.DeepCopy()
			s.seen = false
			if diff := cmp.Diff(*before, s.report().Status); diff != "" {
				t.Errorf("expected the status to stand (-before +after):\n%s", diff)
			}
		})
	}
}

func TestAProcessThatHasNotLookedYetDoesNotSayThatAllIsWell(t *testing.T) {
	s := running(3)
	s.pod(2).Status.Conditions = nil
	if got := conditionText(s.report().Status.Conditions, "Ready"); !strings.HasPrefix(got, "False") {
		t.Fatalf("expected a pod to be missed, got %s", got)
	}
	s.pod(2).Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	s.seen = false
	want := "All pods are ready, but opcrew has not read the state of their servers yet"
	for range 2 {
		if got := conditionText(s.report().Status.Conditions, "Ready"); !strings.HasPrefix(got, "False ") || !strings.HasSuffix(got, want) {
			t.Errorf("expected False until the servers have been looked at, got %s", got)
		}
	}
	s.seen = true
	if got := conditionText(s.report().Status.Conditions, "Ready"); !strings.HasPrefix(got, "True") {
		t.Errorf("expected True when all is well, got %s", got)
	}
}

func TestServersThatRefuseTheOperatorsPasswordAreReportedAsSuch(t *testing.T) {
	s := running(3)
	s.report()
	f := s.look()
	for address := range f.view.Nodes {
		f.view.Nodes[address] = redis.NodeStatus{Err: &redis.Refusal{Text: "WRONGPASS invalid username-password pair"}}
	}
	reportAt(s.Cluster, f, kit.Outcome{}, clustertest.Noon)
	want := "False Unreachable: The servers refuse the operator's password (home server of example-0: WRONGPASS invalid username-password pair): Secret example-system was changed. " +
		"Restore the previous password in that Secret. To print the previous password: kubectl exec -n shop example-0 -c home -- grep auth /var/opcrew/home.conf"
	if got := conditionText(s.Status.Conditions, "Ready"); got != want {
		t.Errorf("expected\n%s, got\n%s", want, got)
	}
}

func TestAClusterInItsSleepRemembersHowManyPodsItHad(t *testing.T) {
	s := running(3, clustertest.With("{hibernate: true, persistentSpec: {enabled: true}}"))
	s.Set.Spec.Replicas, s.Pods = new(int32), nil
	if c := s.report(); c.Status.Nodes != 3 || c.Status.Shards != 3 {
		t.Errorf("expected 3 pods and 3 shards to be remembered, got %d and %d", c.Status.Nodes, c.Status.Shards)
	}
}

func TestAClusterWhoseAwakeningIsBrokenOffIsNotTakenForOneThatNeverWas(t *testing.T) {
	s := running(5, clustertest.With("persistentSpec: {enabled: true}"))
	s.silence(0, 1, 2, 3, 4)
	s.report()
	clustertest.With("hibernate: true")(s.Cluster)
	s.Set.Spec.Replicas, s.Pods = new(int32), nil
	s.report()
	clustertest.With("hibernate: false")(s.Cluster)
	wants(3)(s.Cluster)
	s.Pods, s.seen = map[string]*corev1.Pod{}, false
	if got := s.decide().Replicas; got != 5 {
		t.Errorf("expected the 5 pods that have its data, got %d", got)
	}
}

// misplace moves slots from the primary of the second shard to the primary of the first.
func (s *scene) misplace(slots int) {
	s.procs["h0"].Slots = redis.Slots{{First: 0, Last: 5461 + slots}}
	s.procs["h1"].Slots = redis.Slots{{First: 5462 + slots, Last: 10922}}
}

// Two operators may briefly run, and both may move slots. If each reported only its own moves, the two would overwrite
// each other's status endlessly.
func TestWhatIsReportedOfAMoveNeverGoesBack(t *testing.T) {
	move := func(slots, moved int) func(*scene) {
		return func(s *scene) {
			s.misplace(slots - moved)
			s.view.Move = &redis.Progress{Goal: 3, Shards: 3, Slots: slots, Moved: moved, Began: clustertest.Noon}
		}
	}
	for name, test := range map[string]struct {
		do   func(*scene)
		want string
	}{
		"it goes on":             {move(100, 40), "40 of 100"},
		"another has seen less":  {move(100, 10), "30 of 100"},
		"it was begun again":     {move(50, 10), "60 of 100"},
		"more slots are to move": {move(200, 10), "10 of 200"},
		"it is of those that were left open": {func(s *scene) {
			s.misplace(60)
			s.view.Move = &redis.Progress{Goal: 3, Shards: 3, Slots: 2, Moved: 1, Began: clustertest.Noon}
		}, "40 of 100"},
		"another process moves them": {func(s *scene) { s.procs["h0"].Migrating = map[int]string{7: "h1"} }, "30 of 100"},
		"no process moves any":       {func(*scene) {}, "none"},
	} {
		s := running(3)
		s.Cluster.Status.Move = &redisv1alpha1.Move{Reason: redisv1alpha1.ReasonRebalancing, SlotsMoved: 30, SlotsTotal: 100}
		test.do(s)
		got := "none"
		if reported := s.report().Status.Move; reported != nil {
			got = fmt.Sprintf("%d of %d", reported.SlotsMoved, reported.SlotsTotal)
		}
		if got != test.want {
			t.Errorf("%s: expected %s, got %s", name, test.want, got)
		}
	}
}
