// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/e2e/etcd"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// etcdctl runs etcdctl in a new pod, as the tutorial article about the CoreOS operator does, and returns the output.
func (e *etcdTest) etcdctl(t *testing.T, name string, args ...string) string {
	t.Helper()
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{
			Name: "fun", Image: etcd.Image(etcd.V34), Env: []corev1.EnvVar{{Name: "ETCDCTL_API", Value: "3"}},
			Command: append([]string{"/usr/local/bin/etcdctl", "--endpoints", "http://" + articleEtcd + "-client:2379"}, args...),
		}},
	}}
	pod.Namespace, pod.Name = e.ns, name
	if err := e.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, time.Minute, "etcdctl "+strings.Join(args, " ")+" has ended", func() error {
		if err := e.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			return fmt.Errorf("the pod of etcdctl is %s", pod.Status.Phase)
		}
		return nil
	})
	return e.kubectl(t, "logs", "-n", e.ns, name)
}

// deletePod deletes the pod of a member, and waits until the pod is gone or has been replaced.
func (e *etcdTest) deletePod(t *testing.T, pod corev1.Pod) {
	t.Helper()
	if err := e.Delete(t.Context(), pod.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, time.Minute, "pod "+pod.Name+" is gone", func() error {
		now := &corev1.Pod{}
		err := e.Get(t.Context(), client.ObjectKeyFromObject(&pod), now)
		if err == nil && now.UID != pod.UID {
			return nil
		}
		return eventually.Gone(err, apierrors.IsNotFound)
	})
}

// names returns the names of the pods.
func names(pods []corev1.Pod) []string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Name)
	}
	return out
}

func TestSmokeAnEtcdClusterServesAndReplacesADeletedPod(t *testing.T) {
	e := newEtcdTest(t, etcd.V36)
	e.create(t, asked(3, etcd.V36))
	e.put(t, "foo", "bar")
	before := e.pods(t)
	e.deletePod(t, before[0])
	after := e.await(t, 3, etcd.V36)
	if slices.Contains(after.Members.Ready, before[0].Name) {
		t.Errorf("%s had an emptyDir volume, so another member should have replaced it", before[0].Name)
	}
	e.wantValue(t, "foo", "bar")
	e.scale(t, 1)
	e.await(t, 1, etcd.V36)
	e.wantValue(t, "foo", "bar")
}

func TestTheWalkOfTheArticleOnEtcd(t *testing.T) {
	for storage, how := range storages() {
		t.Run(storage, func(t *testing.T) {
			e := newEtcdTest(t, etcd.Releases()...)
			e.create(t, asked(3, etcd.V34, how))
			if out := e.etcdctl(t, "fun-put", "put", "foo", "bar"); strings.TrimSpace(out) != "OK" {
				t.Errorf("expected OK, got %q", out)
			}
			e.scale(t, 4)
			e.await(t, 4, etcd.V34)
			e.during(t, "the upgrades of the article", false, func() {
				for _, version := range etcd.Releases()[1:] {
					members := names(e.pods(t))
					e.edit(t, fmt.Sprintf(`{"version":%q}`, version))
					e.await(t, 4, version)
					if now := names(e.pods(t)); !slices.Equal(now, members) {
						t.Errorf("an upgrade should replace no member; the members were %q and are %q", members, now)
					}
				}
			})
			e.deletePod(t, e.pods(t)[0])
			e.await(t, 4, etcd.V37)
			if out := e.etcdctl(t, "fun-get", "get", "foo"); out != "foo\nbar\n" {
				t.Errorf("expected foo to be bar, got %q", out)
			}
			e.remove(t)
		})
	}
}

// remove deletes the EtcdCluster, and waits until all objects that belong to it are gone.
func (e *etcdTest) remove(t *testing.T) {
	t.Helper()
	e.kubectl(t, "delete", "-n", e.ns, "etcdcluster/"+articleEtcd, "--timeout=60s")
	eventually.True(t, 2*time.Minute, "the object's pods and Services are gone", func() error {
		if pods := e.pods(t); len(pods) > 0 {
			return fmt.Errorf("the pods are %q", names(pods))
		}
		err := e.Get(t.Context(), client.ObjectKey{Namespace: e.ns, Name: articleEtcd + "-client"}, &corev1.Service{})
		return eventually.Gone(err, apierrors.IsNotFound)
	})
}

func TestTheManifestOfTheArticleIsExplainedWhereItsImageIsNotThere(t *testing.T) {
	e := newEtcdTest(t, etcd.V35)
	// These three manifests of a tutorial article about the CoreOS operator create, scale and upgrade a cluster. The
	// local cluster has no images of the old etcd versions that they name.
	for _, file := range []string{"etcd-cluster.yaml", "etcd-cluster-scaled.yaml", "etcd-cluster-upgraded.yaml"} {
		e.kubectl(t, "apply", "-n", e.ns, "-f", filepath.Join(e.root, "test", "e2e", "testdata", file))
		e.awaitSays(t, metav1.ConditionFalse, "ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull")
	}
	e.edit(t, fmt.Sprintf(`{"version":%q}`, etcd.V35))
	e.await(t, 4, etcd.V35)
	e.put(t, "foo", "bar")
	e.wantValue(t, "foo", "bar")
}
