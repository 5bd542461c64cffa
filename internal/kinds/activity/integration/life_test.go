// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

func TestACommandSucceedsAndItsObjectSaysAll(t *testing.T) {
	s := newSite(t)
	mark := env.Audit.Mark(t)
	s.create("chore", "true")
	a := s.await("chore", egov1.StateSucceeded, "exit code 0")
	if a.Status.ExitCode == nil || *a.Status.ExitCode != 0 || a.Status.Output != "done" || a.Status.Pod == "" {
		t.Errorf("expected exit code, output and pod in the status, got %+v", a.Status)
	}
	want := map[string]int{
		"patch activities": 1, // opcrew adds the finalizer
		"patch pods":       2, // the pod is created, and its finalizer is removed once the result is recorded
		"get activities":   1, "get nodes": 1, "get pods": 1,
		"get validatingadmissionpolicies": 1, "get validatingadmissionpolicybindings": 1,
	}
	got := env.Settled(t, mark).Tally()
	// opcrew writes the status for up to four states of a run of an Activity: recorded, pod created, running and ended.
	// It skips states that last less than half a second.
	if statuses := got["patch activities/status"]; statuses < 2 || statuses > 4 {
		t.Errorf("expected 2 to 4 writes of the status, got %d", statuses)
	}
	delete(got, "patch activities/status")
	if !maps.Equal(got, want) {
		t.Errorf("expected the calls\n%v, got\n%v", want, got)
	}
	env.Rests(t)
	s.delete("chore")
	s.gone(a)
}

func TestARestartAndASecondLookWriteNothing(t *testing.T) {
	s := newSite(t)
	s.create("done", "true")
	s.create("busy", "sleep")
	s.await("done", egov1.StateSucceeded)
	s.await("busy", egov1.StateRunning)
	env.Settled(t, env.Audit.Mark(t))
	s.operator.Stop()
	mark := env.Audit.Mark(t)
	s.operator.Start()
	if writes := env.Settled(t, mark).Writes(); len(writes) > 0 {
		t.Errorf("expected a restart to write nothing, it wrote:\n%s", writes)
	}
	env.Rests(t)
}

func TestACommandFailsAndRunsAgainOnlyWhenAsked(t *testing.T) {
	s := newSite(t)
	s.create("chore", "false")
	a := s.await("chore", egov1.StateFailed, "exit code 1")
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
	s.patch("chore", `{"spec":{"run":2}}`)
	operator.Until(t, "the second run ends", func() error {
		if now := s.get("chore"); now.Status.Run != 2 || now.Status.Prosta != egov1.StateFailed {
			return fmt.Errorf("it is run %d, %s", now.Status.Run, now.Status.Prosta)
		}
		return nil
	})
	operator.Until(t, "the first pod goes", func() error {
		if pods := s.pods(a); len(pods) != 1 || pods[0].Name != s.get("chore").Status.Pod {
			return fmt.Errorf("there are %d", len(pods))
		}
		return nil
	})
}

func TestACancelEndsWhatRunsAndSaysSo(t *testing.T) {
	s := newSite(t)
	s.create("chore", "sleep")
	s.await("chore", egov1.StateRunning, "is running on "+s.hosts[0])
	s.patch("chore", `{"spec":{"cancel":true}}`)
	a := s.await("chore", egov1.StateCancelled, "were ended")
	operator.Until(t, "its pod goes", func() error {
		if n := len(s.pods(a)); n > 0 {
			return fmt.Errorf("%d are there", n)
		}
		return nil
	})
	env.Settled(t, env.Audit.Mark(t))
	if now := s.get("chore"); now.Status.Prosta != egov1.StateCancelled {
		t.Errorf("expected it to stay Cancelled when the pod has gone, got %s", now.Status.Prosta)
	}
}

func TestADeletionEndsWhatRuns(t *testing.T) {
	s := newSite(t)
	s.create("chore", "sleep")
	a := s.await("chore", egov1.StateRunning)
	s.delete("chore")
	s.gone(a)
}

// A user who may change the Activity deletes it and removes its finalizer. opcrew then gets no further event about this
// Activity. The user expects that opcrew still removes the pod and the Secret of the run.
func TestNothingIsLeftOfAnActivityThatLosesItsFinalizer(t *testing.T) {
	s := newSite(t)
	s.secretsCanBeRead()
	secret := &corev1.Secret{StringData: map[string]string{"token": "hunter2"}}
	secret.Namespace, secret.Name = s.ns, "credentials"
	if err := env.Client.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	s.create("other", "sleep")
	other := s.await("other", egov1.StateRunning)
	s.create("chore", "sleep", func(a *egov1.Activity) {
		a.Spec.SecretEnvs = []egov1.SecretEnv{{Name: "TOKEN", Secret: "credentials", Key: "token"}}
	})
	a := s.await("chore", egov1.StateRunning)
	s.delete("chore")
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	if err := env.Client.Patch(t.Context(), s.declared("chore", ""), patch); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	s.gone(a)
	if len(s.pods(other)) != 1 {
		t.Error("expected the pod of another Activity to stay")
	}
}

// A user with the right to delete pods in namespace opcrew-activities deletes a pod whose command is running.
func TestADeletedPodIsReportedAndNotRecreated(t *testing.T) {
	s := newSite(t)
	s.create("chore", "sleep")
	a := s.await("chore", egov1.StateRunning)
	pod := s.pods(a)[0]
	if err := env.Client.Delete(t.Context(), &pod); err != nil {
		t.Fatal(err)
	}
	s.await("chore", egov1.StateCancelled, "deleted by another client")
	env.Settled(t, env.Audit.Mark(t))
	if n := len(s.pods(a)); n > 0 {
		t.Errorf("expected no further pod, got %d", n)
	}
}

// The test removes the finalizer of a pod and deletes the pod. No client should do this, because the result is lost.
func TestAPodThatIsTornAwayLeavesAnUnknownEndAndNoSecondRun(t *testing.T) {
	s := newSite(t)
	s.create("chore", "sleep")
	a := s.await("chore", egov1.StateRunning)
	s.operator.Stop()
	pod := s.pods(a)[0]
	for _, do := range []func() error{
		func() error { return env.Client.Delete(t.Context(), &pod, client.GracePeriodSeconds(0)) },
		func() error {
			return env.Client.Patch(t.Context(), &pod, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
		},
	} {
		if err := client.IgnoreNotFound(do()); err != nil {
			t.Fatal(err)
		}
	}
	s.operator.Start()
	s.await("chore", egov1.StateUnknown, "opcrew runs the command again only if spec.run is increased")
	if n := len(s.pods(a)); n > 0 {
		t.Errorf("expected no further pod, got %d", n)
	}
}

func TestAHostThatIsNotThereIsNamedAndWaitedForAsLongAsAskedFor(t *testing.T) {
	s := newSite(t)
	s.create("chore", "true", func(a *egov1.Activity) { a.Spec.Host = "nowhere"; a.Spec.StartDeadlineSeconds = new(int64(3)) })
	s.await("chore", egov1.StatePending, "no node named nowhere")
	a := s.await("chore", egov1.StateUnreachable, "did not start within 3 s")
	s.delete("chore")
	s.gone(a)
}

func TestACordonedHostIsExplainedByTheSchedulerAndReachedByRepair(t *testing.T) {
	s := newSite(t)
	if err := env.Client.Patch(t.Context(), node(s.hosts[0]), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"unschedulable":true}}`))); err != nil {
		t.Fatal(err)
	}
	s.create("routine", "true")
	s.await("routine", egov1.StatePending, "unschedulable")
	s.create("repair", "true", func(a *egov1.Activity) { a.Spec.Placement = egov1.PlacementRepair })
	s.await("repair", egov1.StateSucceeded)
}

func TestValuesOfSecretsReachThePodAndAreTakenAwayAtTheEnd(t *testing.T) {
	s := newSite(t)
	withToken := func(a *egov1.Activity) {
		a.Spec.SecretEnvs = []egov1.SecretEnv{{Name: "TOKEN", Secret: "credentials", Key: "token"}}
	}
	s.secretsCanBeRead()
	s.create("chore", "sleep", withToken)
	s.await("chore", egov1.StatePending, "the key token or its Secret credentials does not exist")
	secret := &corev1.Secret{StringData: map[string]string{"token": "hunter2"}}
	secret.Namespace, secret.Name = s.ns, "credentials"
	if err := env.Client.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	a := s.await("chore", egov1.StateRunning)
	kept := &corev1.Secret{}
	key := client.ObjectKey{Namespace: run.Namespace, Name: a.Status.Pod}
	if err := env.Client.Get(t.Context(), key, kept); err != nil || string(kept.Data["TOKEN"]) != "hunter2" {
		t.Errorf("expected the value beside the pod, got %v %v", kept.Data, err)
	}
	s.patch("chore", `{"spec":{"cancel":true}}`)
	s.await("chore", egov1.StateCancelled)
	operator.Until(t, "the value is taken away", func() error {
		if err := env.Client.Get(t.Context(), key, kept); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is there, or not to be read: %w", err)
		}
		return nil
	})
}
