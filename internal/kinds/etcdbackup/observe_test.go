// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdbackup

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup/backuptest"
	"github.com/opcrew/opcrew/internal/kit"
)

// observed returns what opcrew reads about a backup if the API server and the cache have different objects.
func observed(t *testing.T, b *etcdv1beta2.EtcdBackup, live, cached []client.Object) facts {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, etcdv1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	r := &reconciler{Tools: &kit.Tools{
		Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(cached...).Build(),
		Live:   fake.NewClientBuilder().WithScheme(scheme).WithObjects(live...).Build(),
		Clock:  clocktesting.NewFakeClock(backuptest.Noon),
	}}
	f, err := r.Observe(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The cache of a new process may still show a run as active, although the run has ended and its pods were deleted.
func TestNoPodIsCreatedIfTheAPIServerShowsAnotherRun(t *testing.T) {
	b := backuptest.New(backuptest.Every(3600), backuptest.InRun(etcdv1beta2.RunRunning, 0), withoutSecret)
	for name, c := range map[string]struct {
		live []client.Object
		want bool
	}{
		"the same":            {[]client.Object{backuptest.New(backuptest.InRun(etcdv1beta2.RunRunning, 0))}, false},
		"it has ended":        {[]client.Object{backuptest.New(backuptest.InRun(etcdv1beta2.RunSucceeded, 0))}, true},
		"the next has begun":  {[]client.Object{backuptest.New(backuptest.InRun(etcdv1beta2.RunRunning, time.Hour))}, true},
		"another of the name": {[]client.Object{backuptest.New(backuptest.InRun(etcdv1beta2.RunRunning, 0), reborn)}, true},
		"the object is gone":  {nil, true},
		"a user annotated it": {[]client.Object{backuptest.New(backuptest.InRun(etcdv1beta2.RunRunning, 0), annotated)}, false},
	} {
		if f := observed(t, b, c.live, nil); f.behind != c.want {
			t.Errorf("%s: expected behind to be %t, got %t", name, c.want, f.behind)
		}
	}
}

func TestAPodIsOfARunOnlyIfTheObjectControlsIt(t *testing.T) {
	b := backuptest.New(backuptest.InRun(etcdv1beta2.RunRunning, 0), withoutSecret)
	live := []client.Object{b.DeepCopy()}
	for name, owner := range map[string]string{"ours": string(b.UID), "of another object": "x", "of no owner": ""} {
		pod := podOf(b, save, 1)
		if owner != "" {
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "EtcdBackup", Name: b.Name, UID: types.UID(owner), Controller: new(true)}}
		}
		if got := len(observed(t, b, live, []client.Object{pod.DeepCopy()}).pods) == 1; got != (name == "ours") {
			t.Errorf("a pod %s: expected it to be seen as the run's: %t", name, !got)
		}
	}
	if got := observed(t, b, live, []client.Object{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: "other"}}}); len(got.pods) > 0 {
		t.Errorf("expected no pod of another name, got %d", len(got.pods))
	}
}

func withoutSecret(b *etcdv1beta2.EtcdBackup) { b.Spec.S3.AWSSecret = "" }

func reborn(b *etcdv1beta2.EtcdBackup) { b.UID = "uid-of-another" }

func annotated(b *etcdv1beta2.EtcdBackup) { b.Annotations = map[string]string{"theirs": "x"} }
