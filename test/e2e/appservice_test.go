// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	articleApp = "nginx-app"
	nginxImage = "nginx:1.26"
	welcome    = "Welcome to nginx"
)

// appTest is a namespace with the AppService of the tutorial article that the AppService API comes from.
type appTest struct {
	*cluster
	ns string
}

func newAppTest(t *testing.T) *appTest {
	t.Helper()
	if err := appv1.AddToScheme(clientgoscheme.Scheme); err != nil {
		t.Fatal(err)
	}
	c := connect(t)
	c.wantImage(t, nginxImage)
	c.freePort(t)
	c.removePools(t)
	ns := &corev1.Namespace{}
	ns.GenerateName = "appservice-"
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kubectl(t, "delete", "namespace", ns.Name, "--wait=false") })
	return &appTest{c, ns.Name}
}

// freePort deletes the samples, one of which uses the same nodePort as the test, and waits until no node serves that
// port. Otherwise the test could reach a pod of the sample.
func (c *cluster) freePort(t *testing.T) {
	t.Helper()
	c.removeSamples(t)
	nodes := &corev1.NodeList{}
	if err := c.List(t.Context(), nodes); err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes.Items {
		address := net.JoinHostPort(node.Status.Addresses[0].Address, "30002")
		eventually.True(t, time.Minute, "nothing answers at "+address+" any more", func() error {
			conn, err := net.DialTimeout("tcp", address, time.Second)
			if err == nil {
				return errors.Join(errors.New("a server still responds"), conn.Close())
			}
			return nil
		})
	}
}

// apply applies the manifest of the tutorial article that the AppService API comes from. If image is not empty, apply
// replaces the manifest's image with it.
func (a *appTest) apply(t *testing.T, image string) {
	t.Helper()
	file := filepath.Join(a.root, "test", "crds", "testdata", "appservices", "accept", "article.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if image != "" {
		file = filepath.Join(t.TempDir(), "app.yaml")
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "nginx:1.7.9", image)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a.kubectl(t, "apply", "-n", a.ns, "-f", file)
}

// edit changes the AppService by a JSON merge patch, as a user does.
func (a *appTest) edit(t *testing.T, patch string) {
	t.Helper()
	a.kubectl(t, "patch", "-n", a.ns, "appservice/"+articleApp, "--type=merge", "-p", patch)
}

// await waits until Ready has the given status and a message with the given words, and the given number of pods is
// ready.
func (a *appTest) await(t *testing.T, status metav1.ConditionStatus, serving int, words string) {
	t.Helper()
	eventually.True(t, 2*time.Minute, fmt.Sprintf("Ready is %s with %d ready pods and the words %q", status, serving, words), func() error {
		app := &appv1.AppService{}
		if err := a.Get(t.Context(), client.ObjectKey{Namespace: a.ns, Name: articleApp}, app); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(app.Status.Conditions, appv1.AppServiceReady)
		if ready == nil || ready.Status != status || int(app.Status.ReadyReplicas) != serving || app.Status.ObservedGeneration != app.Generation || !strings.Contains(ready.Message, words) {
			return fmt.Errorf("%d pods are ready, and Ready is %+v", app.Status.ReadyReplicas, ready)
		}
		return nil
	})
}

// urls returns the URL of the Service in the cluster, and its URLs at the given nodes.
func (a *appTest) urls(t *testing.T, nodes ...string) []string {
	t.Helper()
	service := &corev1.Service{}
	if err := a.Get(t.Context(), client.ObjectKey{Namespace: a.ns, Name: articleApp}, service); err != nil {
		t.Fatal(err)
	}
	out := []string{fmt.Sprintf("http://%s:80/", service.Spec.ClusterIP)}
	for _, name := range nodes {
		node := &corev1.Node{}
		if err := a.Get(t.Context(), client.ObjectKey{Name: name}, node); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("http://%s:30002/", node.Status.Addresses[0].Address))
	}
	return out
}

// wantPages checks that every URL returns the application's page.
func wantPages(t *testing.T, urls []string) {
	t.Helper()
	for _, url := range urls {
		eventually.True(t, 20*time.Second, url+" answers", func() error { return fetchPage(t.Context(), url, welcome) })
	}
}

// wantPagesAtEveryVisit waits until many consecutive requests succeed. After a pod was deleted, it takes some time
// until the proxies of all nodes no longer send requests to it.
func wantPagesAtEveryVisit(t *testing.T, urls []string) {
	t.Helper()
	for _, ask := range visitors(welcome, urls...) {
		eventually.True(t, 60*time.Second, "50 consecutive requests succeed", func() error {
			for range 50 {
				if err := ask(t.Context()); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func TestSmokeAnAppServiceServesThroughEveryChange(t *testing.T) {
	a := newAppTest(t)
	a.apply(t, nginxImage)
	a.await(t, metav1.ConditionTrue, 2, "2 of 2 pods are ready")
	urls := a.urls(t, "node1", "node2")
	wantPages(t, urls)

	load := startTraffic(t, visitors(welcome, urls...)...)
	a.kubectl(t, "scale", "-n", a.ns, "appservice/"+articleApp, "--replicas=3")
	a.await(t, metav1.ConditionTrue, 3, "3 of 3 pods are ready")
	a.edit(t, `{"spec":{"envs":[{"name":"GREETING","value":"hello"}]}}`)
	a.await(t, metav1.ConditionTrue, 3, "3 of 3 pods are ready")
	a.edit(t, `{"spec":{"image":"nginx:1.26.3"}}`)
	a.await(t, metav1.ConditionTrue, 3, "3 of 3 pods are ready")
	a.edit(t, `{"spec":{"size":2}}`)
	a.await(t, metav1.ConditionTrue, 2, "2 of 2 pods are ready")
	a.apply(t, "") // the unchanged manifest, with an image that the local cluster's registry does not have
	a.await(t, metav1.ConditionFalse, 2, "nginx:1.7.9")
	a.apply(t, nginxImage)
	a.await(t, metav1.ConditionTrue, 2, "2 of 2 pods are ready")
	load.stop(t, "scaling, two rollouts, a bad image and its correction")

	a.kubectl(t, "delete", "-n", a.ns, "appservice/"+articleApp, "--timeout=60s")
	a.wantNothing(t)
}

// wantNothing waits until all objects that belonged to the AppService are gone.
func (a *appTest) wantNothing(t *testing.T) {
	t.Helper()
	eventually.True(t, time.Minute, "all objects that belonged to the object are gone", func() error {
		for _, list := range []client.ObjectList{&corev1.PodList{}, &corev1.ServiceList{}} {
			if err := a.List(t.Context(), list, client.InNamespace(a.ns)); err != nil {
				return err
			}
			if n := meta.LenList(list); n > 0 {
				return fmt.Errorf("%d objects in %T still exist", n, list)
			}
		}
		return nil
	})
}

func TestAnAppServiceServesWhileANodeIsDownAndHealsWithIt(t *testing.T) {
	a := newAppTest(t)
	a.apply(t, nginxImage)
	a.kubectl(t, "scale", "-n", a.ns, "appservice/"+articleApp, "--replicas=3")
	a.await(t, metav1.ConditionTrue, 3, "3 of 3 pods are ready")
	pods := &corev1.PodList{}
	if err := a.List(t.Context(), pods, client.InNamespace(a.ns)); err != nil {
		t.Fatal(err)
	}
	byNode := map[string]int{}
	for i := range pods.Items {
		byNode[pods.Items[i].Spec.NodeName]++
	}
	if len(byNode) != 3 {
		t.Errorf("expected a pod at each of three nodes, got %v", byNode)
	}
	a.crash(t, "node3")
	a.await(t, metav1.ConditionFalse, 3-byNode["node3"], "node node3 does not answer")
	urls := a.urls(t, "node1", "node2")
	wantPagesAtEveryVisit(t, urls)
	load := startTraffic(t, visitors(welcome, urls...)...)
	a.start(t, "node3")
	a.await(t, metav1.ConditionTrue, 3, "3 of 3 pods are ready")
	load.stop(t, "the return of a node")
}
