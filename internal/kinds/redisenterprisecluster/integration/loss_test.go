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

// bereave has both servers of the first shard of a cluster of three lose their volumes, with all else that was on the
// two pods. The others have a copy of that.
func (s *site) bereave() {
	s.Helper()
	pods := s.pods()
	s.kubelets.Wipe(s.Context(), &pods[0], &pods[1])
	gone := store.GiveUp(s.cluster())
	isOther := func(key string) bool {
		slot, _ := strconv.Atoi(strings.Split(key, "/")[0]) // there are no others
		return slot > 5460
	}
	if len(gone) == 0 || slices.ContainsFunc(gone, isOther) {
		s.Fatalf("expected data of the first shard to be lost, and none else; keys %q are", gone)
	}
}

// awaitLoss waits until the loss is told, with words and the command, which is returned, and until all that is not lost
// is served and has its copy.
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

// carryOut does what a command to annotate does.
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

// staysLost expects that no one serves the slots that are lost, and that the operator has nothing to write.
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

func TestALostShardIsServedAgainByTheCommandThatIsToldAndByNothingElse(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	s.awaitWhole()
	s.write(300)
	s.bereave()
	command := s.awaitLoss()
	s.staysLost("nobody said so")
	_, token, _ := strings.Cut(command, "@")
	for value, words := range map[string]string{
		"yes":           `"yes", cannot be read`,
		"0-5460":        `"0-5460", cannot be read`,
		"0-5460@x":      `"0-5460@x", is of another loss`,
		"0-99@" + token: "gives up other slots, or some of them",
	} {
		s.annotate(redisv1alpha1.AcceptDataLossAnnotation, value)
		if told := s.awaitLoss(words); told != command {
			t.Errorf("expected the same command to be told whatever is there, got %q in place of %q", told, command)
		}
	}
	s.staysLost("no annotation that was there counts")
	s.carryOut(command)
	c := s.awaitWhole()
	if told := meta.FindStatusCondition(c.Status.Conditions, redisv1alpha1.ConditionDataAtRisk); told != nil {
		t.Errorf("expected no data to be at risk any more, got %+v", told)
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
	s.bereave()
	first := s.awaitLoss()
	s.carryOut(first)
	s.awaitWhole()
	s.write(300)
	s.bereave()
	second := s.awaitLoss("is of another loss")
	if second == first {
		t.Fatalf("expected another loss to have another command, got %q again", second)
	}
	s.staysLost("the annotation is of another loss")
	s.carryOut(second)
	s.awaitWhole()
}

// A cluster that is recreated on the claims of one that had lost data has lost it too.
func TestAClusterThatIsMadeAnewOnClaimsOfWhichSomeAreEmptyTellsTheLoss(t *testing.T) {
	s := newSite(t)
	s.create(withClaims)
	s.awaitWhole()
	s.write(300)
	s.bereave()
	s.awaitLoss()
	pods := s.pods()
	s.delete(s.get())
	s.replaced(pods...)
	s.create(withClaims)
	s.carryOut(s.awaitLoss())
	s.awaitWhole()
}
