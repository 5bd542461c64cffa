// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

type instance = customv1.MicroServiceDeploy

// template returns the current pod template of the Deployment.
func (s *shop) template() corev1.PodTemplateSpec {
	s.Helper()
	d := &appsv1.Deployment{}
	s.read(d)
	return d.Spec.Template
}

// sets returns the UIDs of the MicroServiceDeploy's ReplicaSets, by the image that they run.
func (s *shop) sets() map[string][]string {
	s.Helper()
	list := &appsv1.ReplicaSetList{}
	if err := env.Client.List(s.Context(), list, s.instance()); err != nil {
		s.Fatal(err)
	}
	out := map[string][]string{}
	for _, set := range list.Items {
		if set.Namespace == s.ns {
			for _, c := range set.Spec.Template.Spec.Containers {
				out[c.Image] = append(out[c.Image], string(set.UID))
			}
		}
	}
	return out
}

func TestAChangeOfTheConfigurationReplacesPodsAndTheOldOneStaysWhileARevisionNamesIt(t *testing.T) {
	s := newShop(t)
	s.create(withReplicas(2), withConfig("LEVEL=1"))
	s.awaitReady(2)
	first, pods := s.configs(), s.pods()
	s.edit(withConfig("LEVEL=2"))
	s.awaitReady(2)
	both := s.configs()
	if len(both) != 2 || !slices.Contains(both, first[0]) {
		t.Errorf("expected the old configuration beside the new one, got %v", both)
	}
	for _, pod := range s.pods() {
		if slices.ContainsFunc(pods, func(old corev1.Pod) bool { return old.UID == pod.UID }) {
			t.Errorf("expected pod %s to be replaced", pod.Name)
		}
	}
	// A Deployment keeps ten old ReplicaSets, and with them ten old revisions.
	for i := range 11 {
		s.edit(withConfig(fmt.Sprint("LEVEL=", i+3)))
		s.awaitReady(2)
	}
	operator.Until(t, "the first configurations go with their ReplicaSets", func() error {
		if got := s.configs(); len(got) > 11 || slices.Contains(got, first[0]) {
			return fmt.Errorf("there are %d: %v", len(got), got)
		}
		// opcrew writes the status after it deletes unused configurations.
		if got := s.get().Status; len(got.Revisions) != 11 || got.Revision != 13 {
			return fmt.Errorf("expected eleven revisions, the last being 13, got %d: %+v", got.Revision, got.Revisions)
		}
		return nil
	})
	for _, r := range s.get().Status.Revisions {
		if !slices.Contains(s.configs(), "ConfigMap "+r.Config) {
			t.Errorf("expected the configuration %s of revision %d to be there", r.Config, r.Revision)
		}
	}
}

func TestARollbackBringsImageAndConfigurationBackInTheSameReplicaSet(t *testing.T) {
	s := newShop(t)
	s.create(withReplicas(2), withConfig("LEVEL=1"))
	s.awaitReady(2)
	old, before := s.sets()[oldImage], s.template()
	s.edit(withImage(newImage), withConfig("LEVEL=2"))
	s.awaitReady(2)
	s.edit(backTo(1))
	m := s.expectServing(s.await(ready, "True AllPodsReady"), 2, oldImage)
	if m.Status.Revision != 1 || m.Spec.Image != newImage {
		t.Errorf("expected revision 1 to run and the spec to stay, got %d, %s", m.Status.Revision, m.Spec.Image)
	}
	if got := s.sets()[oldImage]; !slices.Equal(got, old) {
		t.Errorf("expected the ReplicaSet %v to be taken up again, got %v", old, got)
	}
	if got, want := configOf(s.template()), configOf(before); got != want {
		t.Errorf("expected configuration %s, got %s", want, got)
	}
	s.edit(backTo(7))
	s.await(ready, "False RevisionMissing", "revision 7, which is not stored; stored revisions: 2, 1; the 2 running pods stay unchanged")
	s.edit(withImage(placeholder), backTo(1)) // the rollback must work even though spec.image is invalid
	s.expectServing(s.await(ready, "True AllPodsReady"), 2, oldImage)
	s.edit(withImage(newImage), backTo(0))
	if m := s.awaitReady(2); m.Status.Revision != 2 {
		t.Errorf("expected revision 2 again, got %d", m.Status.Revision)
	}
	if n := len(s.sets()[newImage]); n != 1 {
		t.Errorf("expected one ReplicaSet of %s, got %d", newImage, n)
	}
}

func configOf(template corev1.PodTemplateSpec) string {
	for _, v := range template.Spec.Volumes {
		switch {
		case v.Name == "config" && v.Secret != nil:
			return "Secret " + v.Secret.SecretName
		case v.Name == "config" && v.ConfigMap != nil:
			return "ConfigMap " + v.ConfigMap.Name
		}
	}
	return ""
}

func TestAConfigurationThatMovesIntoASecretLeavesNoConfigMapOnceItsRevisionIsGone(t *testing.T) {
	s := newShop(t)
	s.create(withConfig("password=88888888"))
	s.awaitReady(1)
	s.await(customv1.MicroServiceDeployConfigWarning, "True LooksSecret", "(password)")
	open := configOf(s.template())
	s.edit(asSecret)
	s.awaitReady(1)
	s.awaitWithout(customv1.MicroServiceDeployConfigWarning)
	if got := configOf(s.template()); !strings.HasPrefix(got, "Secret ") || strings.Fields(got)[1] == strings.Fields(open)[1] {
		t.Errorf("expected a Secret of a name of its own, got %s beside %s", got, open)
	}
	list := &appsv1.ReplicaSetList{}
	if err := env.Client.List(t.Context(), list, s.instance()); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if set := &list.Items[i]; set.Namespace == s.ns && *set.Spec.Replicas == 0 {
			if err := env.Client.Delete(t.Context(), set); err != nil {
				t.Fatal(err)
			}
		}
	}
	operator.Until(t, "the password stands in no ConfigMap any more", func() error {
		if got := s.configs(); len(got) != 1 || got[0] != configOf(s.template()) {
			return fmt.Errorf("there are %v", got)
		}
		return nil
	})
}

func TestAConfigurationOfTheUsersOwnSecretIsWaitedForAndFollowed(t *testing.T) {
	s := newShop(t)
	s.create(configFrom("mine"))
	s.await(ready, "False ConfigMissing", "Secret mine does not exist")
	if pods := s.pods(); len(pods) > 0 {
		t.Errorf("expected no pods without their configuration, got %d", len(pods))
	}
	mine := &corev1.Secret{StringData: map[string]string{"LEVEL": "1", "not-a-variable": "2"}}
	mine.Name = "mine"
	s.make(mine)
	s.awaitReady(1) // opcrew reads the Secret again without a change of the spec
	if env := s.template().Spec.Containers[0].Env; len(env) != 2 || env[0].ValueFrom.SecretKeyRef.Name != "mine" || env[0].Name != "LEVEL" {
		t.Errorf("expected LEVEL of Secret mine and PORT, got %+v", env)
	}
	pods := s.pods()
	s.named("mine").patch(&corev1.Secret{}, `{"stringData":{"LEVEL":"2"}}`)
	s.edit(withReplicas(2)) // opcrew does not watch the Secret, so this edit makes opcrew read it
	s.awaitReady(2)
	for _, pod := range s.pods() {
		if pod.UID == pods[0].UID {
			t.Error("expected pods of the old contents to be replaced")
		}
	}
	s.named("mine").remove(&corev1.Secret{})
	s.edit(withImage(newImage))
	s.await(ready, "False ConfigMissing", "the 2 running pods stay unchanged")
	if n := s.running(oldImage); n != 2 {
		t.Errorf("expected two pods to go on, got %d", n)
	}
}

func TestASecretThatCarriesTheLabelIsFollowedAtOnce(t *testing.T) {
	s := newShop(t)
	mine := &corev1.Secret{StringData: map[string]string{"LEVEL": "1"}}
	mine.Name, mine.Labels = "mine", map[string]string{common.WatchLabel: "true"}
	s.make(mine)
	s.create(configFrom("mine"))
	s.awaitReady(1)
	s.settled()
	before := s.template().Annotations["opcrew.io/config-hash"]
	s.named("mine").patch(&corev1.Secret{}, `{"stringData":{"LEVEL":"2"}}`)
	operator.Until(t, "the pods are to have the new contents", func() error {
		if s.template().Annotations["opcrew.io/config-hash"] == before {
			return errors.New("they have the old ones")
		}
		return nil
	})
	// A change of the Secret does not change the generation of the spec, so Ready may still report the earlier state.
	operator.Until(t, "the rollout has come to its end", func() error {
		d := &appsv1.Deployment{}
		s.read(d)
		if st := d.Status; st.ObservedGeneration < d.Generation || st.UpdatedReplicas != 1 || st.Replicas != 1 || s.running(oldImage) != 1 {
			return fmt.Errorf("its status is %+v", st)
		}
		return nil
	})
	s.awaitReady(1)
}
