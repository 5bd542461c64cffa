// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// busy starts a client that writes continuously. The returned function stops it and expects that every write was served
// and none was lost.
func (s *site) busy() (done func()) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	var writing sync.WaitGroup
	var failures []error
	writing.Go(func() {
		for ctx.Err() == nil {
			if err := store.Write(s.cluster(), 16, 100); err != nil {
				failures = append(failures, err)
			}
			time.Sleep(25 * time.Millisecond)
		}
	})
	return func() {
		s.Helper()
		cancel()
		writing.Wait()
		if len(failures) > 0 {
			s.Errorf("expected a client to be served all the while, it was not %d times: %v", len(failures), failures[0])
		}
		if lost := store.Lost(s.cluster()); len(lost) > 0 {
			s.Errorf("expected nothing to be lost, %d keys are", len(lost))
		}
	}
}

func TestAClusterGrowsAndShrinksAndItsClientsDoNotNotice(t *testing.T) {
	for name, options := range map[string][]option{"emptyDir": nil, "claims": {withClaims}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.create(options...)
			s.awaitWhole()
			before := uids(s.pods())
			done := s.busy()
			for _, n := range []int32{5, 3} {
				s.edit(sized(n))
				s.awaitWhole()
			}
			done()
			if diff := cmp.Diff(before, uids(s.pods())); diff != "" {
				t.Errorf("expected the first three pods to go on (-before +after):\n%s", diff)
			}
			env.Settled(t, env.Audit.Mark(t))
			env.Rests(t)
		})
	}
}

func TestSlotsThatMoveAreReportedAndAnotherNumberIsFollowedAtOnce(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	s.write(2000)
	s.edit(sized(5))
	s.awaitCondition(redisv1alpha1.ConditionMigrating, "True ScalingUp", "slots have been moved, to spread them over 5 pods")
	s.edit(sized(4))
	s.awaitWhole()
}

func TestAPausedClusterMovesNoSlotsUntilItGoesOn(t *testing.T) {
	s := newSite(t)
	s.create(rated("64Ki"))
	s.awaitWhole()
	s.write(2000)
	s.edit(sized(4))
	s.awaitCondition(redisv1alpha1.ConditionMigrating, "True ScalingUp", "slots have been moved, to spread them over 4 pods")
	s.annotate(common.PausedAnnotation, "true")
	s.await("False Paused")
	env.Settled(t, env.Audit.Mark(t))
	before := store.Changes()
	env.Rests(t)
	if n := store.Changes() - before; n > 0 {
		t.Errorf("expected no server to be changed while the cluster is paused, %d changes were", n)
	}
	s.annotate(common.PausedAnnotation, "false")
	s.edit(rated("1Gi"))
	s.awaitWhole()
}

func TestAPodThatIsDeletedOrCrashesIsReplacedAndLeadsAgain(t *testing.T) {
	for how, grace := range map[string]int64{"deleted": 30, "crashed": 0} {
		for name, options := range map[string][]option{"emptyDir": nil, "claims": {withClaims}} {
			t.Run(how+", "+name, func(t *testing.T) {
				s := newSite(t)
				s.create(options...)
				s.awaitWhole()
				s.write(300)
				victim := s.pods()[1]
				if err := env.Client.Delete(t.Context(), &victim, client.GracePeriodSeconds(grace)); err != nil {
					t.Fatal(err)
				}
				s.replaced(victim)
				s.awaitWhole()
			})
		}
	}
}

func TestALostVolumeIsFilledFromTheReplica(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	s.awaitWhole()
	s.write(300)
	victim := s.pods()[2]
	s.kubelets.Wipe(t.Context(), &victim)
	operator.Until(t, "the one that replicates it leads", func() error {
		if len(store.Lost(s.cluster())) > 0 {
			return errors.New("what was written is not found")
		}
		return nil
	})
	s.awaitWhole()
}

func TestAllPodsDeletedAtOnceComeBackOnTheirClaims(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	before := s.awaitWhole()
	s.write(300)
	pods := s.pods()
	for i := range pods {
		s.delete(&pods[i])
	}
	s.replaced(pods...)
	if after := s.awaitWhole(); !cmp.Equal(before.Status.Slots, after.Status.Slots) {
		t.Errorf("expected every server to have the same slots as before, got %+v", after.Status.Slots)
	}
}

// Without volumes, the data is lost with the pods. The cluster must start again without waiting for the data, and
// report the loss.
func TestAllPodsDeletedAtOnceWithoutClaimsBeginAgainAndThatIsReported(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	s.write(300)
	pods := s.pods()
	for i := range pods {
		s.delete(&pods[i])
	}
	s.replaced(pods...)
	s.awaitWarning("StartedOver")
	store.Abandon(s.cluster())
	s.awaitWhole()
}

func TestAClusterSleepsAndWakesWithTheSameSlotsAndData(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	before := s.awaitWhole()
	s.write(300)
	s.edit(hibernating(true))
	s.await("True Hibernating")
	if n := len(s.pods()); n > 0 || len(s.claims()) != 3 {
		t.Errorf("expected no pods and three claims, got %d and %d", n, len(s.claims()))
	}
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	s.edit(hibernating(false))
	if after := s.awaitWhole(); !cmp.Equal(before.Status.Slots, after.Status.Slots) {
		t.Errorf("expected every server to have the same slots as before, got %+v", after.Status.Slots)
	}
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
}

func TestAnUpgradeRestartsOnePodAtATimeAndClientsDoNotNotice(t *testing.T) {
	for name, options := range map[string][]option{"emptyDir": {imaged("7.0.15")}, "claims": {imaged("7.0.15"), withClaims}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.create(options...)
			if c := s.awaitWhole(); c.Status.Version != "7.0.15" {
				t.Errorf("expected version 7.0.15 to be reported, got %q", c.Status.Version)
			}
			before, done := s.pods(), s.busy()
			s.edit(imaged("8.0.2"))
			s.replaced(before...)
			if c := s.awaitWhole(); c.Status.Version != "8.0.2" {
				t.Errorf("expected version 8.0.2 to be reported, got %q", c.Status.Version)
			}
			done()
			env.Settled(t, env.Audit.Mark(t))
			env.Rests(t)
		})
	}
}

func TestASettingIsSentToServersThatRunAndOneThatIsReadAtTheStartRestartsThem(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	before := s.pods()
	s.edit(configured("maxmemory-policy", "allkeys-lru"))
	operator.Until(t, "all servers have it", func() error { return s.hasSetting("maxmemory-policy", "allkeys-lru") })
	s.awaitWhole()
	if diff := cmp.Diff(uids(before), uids(s.pods())); diff != "" {
		t.Errorf("expected all pods to go on (-before +after):\n%s", diff)
	}
	s.edit(configured("io-threads", "4"))
	s.replaced(before...)
	s.awaitWhole()
	s.edit(configured("no-such-setting", "1"))
	s.await("False ConfigRefused", "no-such-setting", "Unknown option")
	s.edit(configured("hz", "20"))
	s.awaitWhole()
}

// hasSetting returns nil if all servers have the given value of a setting. Otherwise it returns an error that names a
// server with another value.
func (s *site) hasSetting(name, value string) error {
	for _, pod := range s.pods() {
		for _, address := range addresses(pod) {
			if got := store.Setting(address, name); got != value {
				return fmt.Errorf("%s of %s has %q", address, pod.Name, got)
			}
		}
	}
	return nil
}

func addresses(pod corev1.Pod) []string {
	return []string{pod.Status.PodIP + ":6379", pod.Status.PodIP + ":6380"}
}

// When a user edits the password, the new password is valid at once. The previous password stays valid for a minute
// after all servers have the new one.
func TestAPasswordThatIsEditedIsValidAtOnceAndTheOldOneForAnotherMinute(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	before, secret := s.pods(), &corev1.Secret{}
	s.read("rec", secret)
	old := string(secret.Data["password"])
	s.patch(secret, `{"stringData":{"password":"another one"}}`)
	operator.Until(t, "all servers take both", func() error { return errors.Join(s.letIn("another one"), s.letIn(old)) })
	begin := time.Now()
	for time.Since(begin) < 50*time.Second {
		if err := errors.Join(s.letIn("another one"), s.letIn(old)); err != nil {
			t.Fatalf("expected both to be valid for a minute, after %s: %v", time.Since(begin), err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	eventually.True(t, leisurely, "no server takes the old one any more", func() error {
		if s.letIn(old) == nil {
			return errors.New("all do")
		}
		return s.letIn("another one")
	})
	s.awaitWhole()
	if s.read("rec", secret); string(secret.Data["password"]) != "another one" {
		t.Error("expected the password to stay as it was edited")
	}
	if diff := cmp.Diff(uids(before), uids(s.pods())); diff != "" {
		t.Errorf("expected all pods to go on (-before +after):\n%s", diff)
	}
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
}

// letIn returns nil if all servers accept the given password. Otherwise it returns an error that names a server that
// rejects it.
func (s *site) letIn(password string) error {
	for _, pod := range s.pods() {
		for _, address := range addresses(pod) {
			if err := store.Login(address, redisv1alpha1.DefaultUsername, password); err != nil {
				return fmt.Errorf("%s: %w", address, err)
			}
		}
	}
	return nil
}

func TestAProcessThatEndsInTheMiddleOfAMoveIsFollowedByOneThatFinishesIt(t *testing.T) {
	s := newSite(t)
	s.create()
	s.awaitWhole()
	s.write(1000)
	done := s.busy()
	s.edit(sized(4))
	// The servers move all slots within a moment, so the loop checks often.
	for end := time.Now().Add(leisurely); !store.Opened(s.cluster()); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("expected slots to be open within %s", leisurely)
		}
	}
	s.operator.Stop()
	s.operator.Start()
	s.awaitWhole()
	done()
}

func TestAStatefulSetThatAUserDeletesIsCreatedAgainAroundTheData(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	s.awaitWhole()
	s.write(100)
	pods := s.pods()
	set := &appsv1.StatefulSet{}
	s.read(s.name, set)
	s.delete(set)
	s.replaced(pods...)
	s.awaitWhole()
}
