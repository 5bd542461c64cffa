// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// loseFirstShard deletes the volumes of both servers of the first shard in a cluster of three pods. All other data that
// was on these volumes has copies on other servers.
func (s *site) loseFirstShard() {
	s.Helper()
	pods := s.pods()
	s.kubelets.Wipe(s.Context(), &pods[0], &pods[1])
	gone := store.GiveUp(s.cluster())
	isOther := func(key string) bool {
		slot, _ := strconv.Atoi(strings.Split(key, "/")[0]) // every key starts with its slot and a slash
		return slot > 5460
	}
	if len(gone) == 0 || slices.ContainsFunc(gone, isOther) {
		s.Fatalf("expected data of the first shard to be lost, and none else; keys %q are", gone)
	}
}

// awaitLoss waits until the status reports the loss with the given words, and all slots that are not lost are served
// and have a replica. It returns the command that the report contains.
func (s *site) awaitLoss(words ...string) string {
	s.Helper()
	command := fmt.Sprintf("kubectl annotate --overwrite rec rec -n %s %s=0-5460@", s.ns, redisv1alpha1.AcceptDataLossAnnotation)
	words = append(words, "slots 0-5460", command)
	s.awaitCondition(redisv1alpha1.ConditionDataAtRisk, "True DataMissing", words...)
	c := s.await("False DataMissing", words...)
	s.awaitCondition(redisv1alpha1.ConditionRedundant, "True AllShardsReplicated", "2 of 2 shards")
	operator.Until(s.T, "the slots that are not lost are served, with their data", func() error {
		if ready := s.get().Status.ReadyNodes; ready != 2 {
			return fmt.Errorf("%d pods are ready", ready)
		}
		if lost := store.Lost(s.cluster()); len(lost) > 0 {
			return fmt.Errorf("%d keys are not found, such as %s", len(lost), lost[0])
		}
		return nil
	})
	_, arguments, _ := strings.Cut(meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionReady).Message, "kubectl ")
	return "kubectl " + arguments
}

// carryOut annotates the object, as the reported kubectl command would.
func (s *site) carryOut(command string) {
	s.Helper()
	words := strings.Fields(command)
	key, value, _ := strings.Cut(words[len(words)-1], "=")
	s.annotate(key, value)
}

func (s *site) annotate(key, value string) {
	s.Helper()
	s.patch(s.get(), fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value))
}

// staysLost expects that for a while no server serves the lost slots, and that the operator writes nothing.
func (s *site) staysLost(why string) {
	s.Helper()
	env.Settled(s.T, env.Audit.Mark(s.T))
	changes := store.Changes()
	eventually.Stays(s.T, 6*time.Second, "nothing is done, as "+why, func() error {
		if store.Write(s.cluster(), 1, 1) == nil {
			return errors.New("slot 0 is served")
		}
		if more := store.Changes() - changes; more > 0 {
			return fmt.Errorf("servers were given %d commands", more)
		}
		return nil
	})
	env.Rests(s.T)
}

func (s *site) awaitWarning(reason string, words ...string) {
	s.Helper()
	operator.Until(s.T, fmt.Sprintf("a warning %s says %q", reason, words), func() error {
		events := &eventsv1.EventList{}
		if err := env.Client.List(s.Context(), events, client.InNamespace(s.ns)); err != nil {
			return err
		}
		for _, e := range events.Items {
			lacks := func(word string) bool { return !strings.Contains(e.Note, word) }
			if e.Reason == reason && e.Type == corev1.EventTypeWarning && !slices.ContainsFunc(words, lacks) {
				return nil
			}
		}
		return errors.New("none does")
	})
}

func TestALostShardIsServedAgainByTheCommandThatIsReportedAndByNothingElse(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	s.awaitWhole()
	s.write(300)
	s.loseFirstShard()
	command := s.awaitLoss()
	s.staysLost("no one said so")
	_, token, _ := strings.Cut(command, "@")
	for value, words := range map[string]string{
		"yes":           `"yes" cannot be read`,
		"0-5460":        `"0-5460" cannot be read`,
		"0-5460@x":      `"0-5460@x" refers to another loss`,
		"0-99@" + token: "names other slots, or only some of these",
	} {
		s.annotate(redisv1alpha1.AcceptDataLossAnnotation, value)
		if reported := s.awaitLoss(words); reported != command {
			t.Errorf("expected the same command whatever is there, got %q in place of %q", reported, command)
		}
	}
	s.staysLost("no annotation that was there counts")
	s.carryOut(command)
	c := s.awaitWhole()
	if reported := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionDataAtRisk); reported != nil {
		t.Errorf("expected no data to be at risk any more, got %+v", reported)
	}
	s.awaitWarning("DataLossAccepted", "0-5460", redisv1alpha1.AcceptDataLossAnnotation)
	s.write(300)
	s.awaitWhole()
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
}

func TestAnAnnotationThatWasLeftThereDoesNotGiveUpALaterLoss(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	s.awaitWhole()
	s.write(300)
	s.loseFirstShard()
	first := s.awaitLoss()
	s.carryOut(first)
	s.awaitWhole()
	s.write(300)
	s.loseFirstShard()
	second := s.awaitLoss("refers to another loss")
	if second == first {
		t.Fatalf("expected another loss to have another command, got %q again", second)
	}
	s.staysLost("the annotation is of another loss")
	s.carryOut(second)
	s.awaitWhole()
}

// A cluster is deleted after some of its volumes lost their data. A new cluster that uses the remaining volumes must
// report the same loss.
func TestAClusterThatIsCreatedAgainOnClaimsOfWhichSomeAreEmptyReportsTheLoss(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	s.awaitWhole()
	s.write(300)
	s.loseFirstShard()
	s.awaitLoss()
	pods := s.pods()
	s.delete(s.get())
	s.replaced(pods...)
	s.create(withClaims)
	s.carryOut(s.awaitLoss())
	s.awaitWhole()
}
