// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	webapp     = "opcrew-test/webapp:1"
	tenantAuth = "opcrew-basic-auth"
)

// serviceTest is a namespace of a tenant with one MicroServiceDeploy.
type serviceTest struct {
	*cluster
	ns, name string
}

// sample is the manifest of the tutorial article that the MicroServiceDeploy API comes from, with an image that exists
// and with smaller resource requests. The original requests would fill three machines.
const sample = `{
	"apiVersion": "custom.ops/v1", "kind": "MicroServiceDeploy", "metadata": {"name": "ms-sample-v1s0"},
	"spec": {
		"msName": "ms-sample", "fullName": "ms-sample-v1s0", "version": "1.0", "path": "v1", "image": %q,
		"replicas": 2, "needAuth": true, "config": "GREETING=hello\nCOLOR=blue", "creationTimestamp": "1535546718115",
		"resourceRequirements": {"limits": {"cpu": "500m", "memory": "64Mi"}, "requests": {"cpu": "50m", "memory": "32Mi"}}
	}}`

func newServiceTest(t *testing.T) *serviceTest {
	t.Helper()
	if err := customv1.AddToScheme(clientgoscheme.Scheme); err != nil {
		t.Fatal(err)
	}
	c := connect(t)
	c.wantWebapp(t)
	ns := &corev1.Namespace{}
	ns.GenerateName = "tenant-"
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kubectl(t, "delete", "namespace", ns.Name, "--wait=false") })
	return &serviceTest{c, ns.Name, "ms-sample-v1s0"}
}

// wantWebapp builds the image of the test's web application and loads it into the nodes.
func (c *cluster) wantWebapp(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, "webapp"), "./test/e2e/webapp")
	build.Dir, build.Env = c.root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the web application: %v\n%s", err, out)
	}
	tar := filepath.Join(dir, "webapp.tar")
	c.run(t, "localcluster", "image", "build", "--tag", webapp, "--binary", filepath.Join(dir, "webapp")+"=/webapp",
		"--entrypoint", "/webapp", "--user", "65532:65532", "--output", tar)
	c.run(t, "localcluster", "image", "load", tar)
}

func (s *serviceTest) create(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sample.json")
	if err := os.WriteFile(file, fmt.Appendf(nil, sample, webapp), 0o600); err != nil {
		t.Fatal(err)
	}
	s.kubectl(t, "apply", "-n", s.ns, "-f", file)
}

// edit changes the object by a JSON merge patch, as a user does.
func (s *serviceTest) edit(t *testing.T, patch string) {
	t.Helper()
	m := &customv1.MicroServiceDeploy{}
	m.Namespace, m.Name = s.ns, s.name
	if err := s.Patch(t.Context(), m, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

// await waits until Ready has the given status and reason for the current generation.
func (s *serviceTest) await(t *testing.T, status metav1.ConditionStatus, reason string) *customv1.MicroServiceDeploy {
	t.Helper()
	m := &customv1.MicroServiceDeploy{}
	eventually.True(t, 2*time.Minute, fmt.Sprintf("Ready is %s, %s", status, reason), func() error {
		if err := s.Get(t.Context(), client.ObjectKey{Namespace: s.ns, Name: s.name}, m); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(m.Status.Conditions, customv1.MicroServiceDeployReady)
		if ready == nil || m.Status.ObservedGeneration != m.Generation || ready.Status != status || ready.Reason != reason {
			return fmt.Errorf("Ready is %+v", ready)
		}
		return nil
	})
	return m
}

// url returns the URL of the object's Service in the cluster.
func (s *serviceTest) url(t *testing.T) string {
	t.Helper()
	service := &corev1.Service{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: s.ns, Name: s.name}, service); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("http://%s/", service.Spec.ClusterIP)
}

// password returns the password that clients of the tenant need.
func (s *serviceTest) password(t *testing.T) string {
	t.Helper()
	secret := &corev1.Secret{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: s.ns, Name: tenantAuth}, secret); err != nil {
		t.Fatal(err)
	}
	return string(secret.Data["password"])
}

// wantAnswer waits until the visitor gets a response that has the given status code, and for which fits returns true.
func wantAnswer(t *testing.T, v *visitor, what string, code int, fits func(answer) bool) {
	t.Helper()
	eventually.True(t, 3*time.Minute, what, func() error {
		got, a, err := v.visit(t.Context())
		if err != nil {
			return err
		}
		if got != code || !fits(a) {
			return fmt.Errorf("the response is %d %+v", got, a)
		}
		return nil
	})
}

func anyAnswer(answer) bool { return true }

func TestSmokeAMicroServiceAsksForItsTenantsPasswordAndIsChangedUnderLoad(t *testing.T) {
	s := newServiceTest(t)
	s.create(t)
	s.await(t, metav1.ConditionTrue, "AllPodsReady")
	url, password := s.url(t), s.password(t)
	tenant := newVisitor(url, "tenant", password)
	wantAnswer(t, newVisitor(url, "", ""), "who gives no password is asked for one", http.StatusUnauthorized, anyAnswer)
	wantAnswer(t, newVisitor(url, "tenant", "wrong"), "a wrong password is refused", http.StatusUnauthorized, anyAnswer)
	wantAnswer(t, tenant, "the service accepts the tenant's password, and the application gets the user name without the password", http.StatusOK, func(a answer) bool {
		return a.User == "tenant" && !a.Password && a.Greeting == "hello" && strings.Contains(a.Config, "COLOR=blue")
	})

	l := startTraffic(t, regulars(tenant)...)
	s.edit(t, `{"spec":{"config":"GREETING=goodbye"}}`)
	changed := s.await(t, metav1.ConditionTrue, "AllPodsReady")
	l.stop(t, "a change of the configuration")
	wantAnswer(t, tenant, "the new configuration", http.StatusOK, func(a answer) bool { return a.Greeting == "goodbye" })
	if changed.Status.Revision != 2 || len(changed.Status.Revisions) != 2 {
		t.Errorf("expected revision 2 of two, got %d of %+v", changed.Status.Revision, changed.Status.Revisions)
	}

	s.edit(t, `{"spec":{"rollbackTo":1}}`)
	s.await(t, metav1.ConditionTrue, "AllPodsReady")
	wantAnswer(t, tenant, "the old configuration is back", http.StatusOK, func(a answer) bool {
		return a.Greeting == "hello" && strings.Contains(a.Config, "COLOR=blue")
	})

	s.edit(t, `{"spec":{"idle":true}}`)
	s.await(t, metav1.ConditionTrue, "Idle")
	eventually.True(t, time.Minute, "an idle instance has no pods", func() error {
		pods := &corev1.PodList{}
		if err := s.List(t.Context(), pods, client.InNamespace(s.ns)); err != nil {
			return err
		}
		if len(pods.Items) > 0 {
			return fmt.Errorf("%d pods still exist", len(pods.Items))
		}
		return nil
	})
	s.edit(t, `{"spec":{"idle":false}}`)
	s.await(t, metav1.ConditionTrue, "AllPodsReady")
	wantAnswer(t, tenant, "it is back", http.StatusOK, anyAnswer)
}

func TestTurningAuthOnAndOffLosesNoRequest(t *testing.T) {
	s := newServiceTest(t)
	s.create(t)
	s.await(t, metav1.ConditionTrue, "AllPodsReady")
	tenant := newVisitor(s.url(t), "tenant", s.password(t))
	wantAnswer(t, tenant, "the service accepts the tenant's password", http.StatusOK, anyAnswer)
	for _, on := range []bool{false, true} {
		l := startTraffic(t, regulars(tenant)...)
		s.edit(t, fmt.Sprintf(`{"spec":{"needAuth":%t}}`, on))
		s.await(t, metav1.ConditionTrue, "AllPodsReady")
		l.stop(t, fmt.Sprintf("needAuth: %t", on))
	}
}

func TestAPasswordIsChangedWithoutARefusedClient(t *testing.T) {
	s := newServiceTest(t)
	s.create(t)
	s.await(t, metav1.ConditionTrue, "AllPodsReady")
	url := s.url(t)
	old, renewed := newVisitor(url, "tenant", s.password(t)), newVisitor(url, "tenant", "a-new-password")
	wantAnswer(t, old, "the service accepts the tenant's password", http.StatusOK, anyAnswer)
	l := startTraffic(t, regulars(old)...)
	secret := &corev1.Secret{}
	secret.Namespace, secret.Name = s.ns, tenantAuth
	data, err := json.Marshal(map[string]any{"stringData": map[string]string{"password": renewed.password}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Patch(t.Context(), secret, client.RawPatch(types.MergePatchType, data)); err != nil {
		t.Fatal(err)
	}
	for range 4 { // the Service spreads requests over the pods, so four requests reach each pod
		wantAnswer(t, renewed, "the server accepts the new password", http.StatusOK, anyAnswer)
	}
	l.stop(t, "a change of the password")
}

func TestTheArticlesMicroServiceSaysThatItsImageIsNone(t *testing.T) {
	s := newServiceTest(t)
	for _, flags := range [][]string{nil, {"--server-side", "--force-conflicts"}} {
		s.kubectl(t, append([]string{"apply", "-n", s.ns, "-f", filepath.Join(s.root, "test", "crds", "testdata", "microservicedeploys", "accept", "article.yaml")}, flags...)...)
	}
	m := s.await(t, metav1.ConditionFalse, "InvalidImage")
	ready := meta.FindStatusCondition(m.Status.Conditions, customv1.MicroServiceDeployReady)
	if !strings.Contains(ready.Message, "just a image url") {
		t.Errorf("expected the image to be named, got %q", ready.Message)
	}
	if c := meta.FindStatusCondition(m.Status.Conditions, customv1.MicroServiceDeployConfigWarning); c == nil || !strings.Contains(c.Message, "password") || strings.Contains(c.Message, "88888888") {
		t.Errorf("expected a warning of the key and not of its value, got %+v", c)
	}
}

func TestAMicroServiceIsScaledByItsRealLoad(t *testing.T) {
	s := newServiceTest(t)
	s.create(t)
	s.edit(t, `{"spec":{"needAuth":false,"replicas":1}}`)
	if m := s.await(t, metav1.ConditionTrue, "AllPodsReady"); m.Status.Replicas != 1 {
		t.Fatalf("expected one pod before there is load, got %d", m.Status.Replicas)
	}
	s.edit(t, `{"spec":{"autoscaling":true,"maxReplicas":3}}`)
	s.await(t, metav1.ConditionTrue, "AllPodsReady")
	busy := newVisitor(s.url(t)+"burn?ms=200", "", "")
	l := startTraffic(t, regulars(busy)...)
	eventually.True(t, 4*time.Minute, "the autoscaler adds pods under load", func() error {
		m := &customv1.MicroServiceDeploy{}
		if err := s.Get(t.Context(), client.ObjectKey{Namespace: s.ns, Name: s.name}, m); err != nil {
			return err
		}
		if m.Status.Replicas < 2 {
			return fmt.Errorf("there are %d pods; %+v", m.Status.Replicas, meta.FindStatusCondition(m.Status.Conditions, customv1.MicroServiceDeployAutoscaled))
		}
		return nil
	})
	l.stop(t, "scaling up")
	s.edit(t, `{"spec":{"autoscaling":false,"replicas":2}}`)
	m := s.await(t, metav1.ConditionTrue, "AllPodsReady")
	if m.Status.Replicas != 2 || slices.ContainsFunc(m.Status.Conditions, func(c metav1.Condition) bool { return c.Type == customv1.MicroServiceDeployAutoscaled }) {
		t.Errorf("expected two pods and no word of an autoscaler, got %+v", m.Status)
	}
}
