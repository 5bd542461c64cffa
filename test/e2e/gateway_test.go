// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && gateway

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	traefik = "opcrew-test/traefik:3"
	domain  = "example.test"
)

// installTraefik installs Traefik, which is an ingress controller and a gateway, and the Gateway API CRDs that it
// needs. It returns the address of Traefik's Service.
func (c *cluster) installTraefik(t *testing.T) (address string) {
	t.Helper()
	tar := filepath.Join(t.TempDir(), "traefik.tar")
	c.run(t, "localcluster", "image", "build", "--tag", traefik, "--binary", filepath.Join(c.root, "bin", "traefik")+"=/traefik",
		"--entrypoint", "/traefik", "--user", "65532:65532", "--output", tar)
	c.run(t, "localcluster", "image", "load", tar)
	c.kubectl(t, "apply", "--server-side", "-f", c.gatewayCRDs(t))
	manifest := filepath.Join(c.root, "test", "e2e", "testdata", "traefik.yaml")
	c.kubectl(t, "apply", "-f", manifest)
	t.Cleanup(func() { c.kubectl(t, "delete", "--ignore-not-found", "--wait=false", "-f", manifest) })
	c.kubectl(t, "-n", "traefik", "rollout", "status", "deployment/traefik", "--timeout=120s")
	service := &corev1.Service{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "traefik", Name: "traefik"}, service); err != nil {
		t.Fatal(err)
	}
	return service.Spec.ClusterIP
}

// gatewayCRDs returns the folder with the CRDs in the Gateway API module that Traefik uses.
func (c *cluster) gatewayCRDs(t *testing.T) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api")
	list.Dir, list.Env = filepath.Join(c.root, "test", "e2e", "traefik"), append(os.Environ(), "GOWORK=off")
	dir, err := list.Output()
	if err != nil {
		t.Fatalf("find Gateway API: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "standard")
}

// version creates a MicroServiceDeploy like the sample, for another major version of the service. through holds the
// spec fields, as JSON text, that decide how clients reach this version from outside the cluster.
func (s *serviceTest) version(t *testing.T, path, through string) *serviceTest {
	t.Helper()
	v := &serviceTest{s.cluster, s.ns, "ms-sample-" + path}
	file := filepath.Join(t.TempDir(), path+".json")
	manifest := fmt.Sprintf(`{"apiVersion": "custom.ops/v1", "kind": "MicroServiceDeploy", "metadata": {"name": %q}, "spec": {
		"msName": "ms-sample", "path": %q, "image": %q, "replicas": 2, "baseDomain": %q, "envs": [{"name": "VERSION", "value": %q}],
		"resourceRequirements": {"requests": {"cpu": "20m", "memory": "32Mi"}, "limits": {"cpu": "200m", "memory": "64Mi"}}, %s}}`,
		v.name, path, webapp, domain, path, through)
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	s.kubectl(t, "apply", "-n", s.ns, "-f", file)
	return v
}

// through returns a client that sends requests to an address, with the given host name.
func through(address, host string) *visitor {
	v := newVisitor("http://"+address+"/", "", "")
	v.host = host
	return v
}

func wantVersion(t *testing.T, address, host, version string) {
	t.Helper()
	wantAnswer(t, through(address, host), host+" leads to "+version, http.StatusOK, func(a answer) bool { return a.Version == version })
}

func TestMajorVersionsRunSideBySideBehindARealIngressAndGateway(t *testing.T) {
	s := newServiceTest(t)
	address := s.installTraefik(t)
	for name, how := range map[string]string{
		"ingress": `"ingressClassName": "traefik"`,
		"gateway": `"gateway": {"name": "traefik", "namespace": "traefik"}`,
	} {
		t.Run(name, func(t *testing.T) {
			first := s.version(t, "v1", how)
			first.await(t, metav1.ConditionTrue, "AllPodsReady")
			second := s.version(t, "v2", how)
			m := second.await(t, metav1.ConditionTrue, "AllPodsReady")
			if c := meta.FindStatusCondition(m.Status.Conditions, customv1.MicroServiceDeployHostReady); c == nil || c.Reason != customv1.ReasonHosted {
				t.Errorf("expected a host name, got %+v", c)
			}
			wantVersion(t, address, "v1-ms-sample."+domain, "v1")
			wantVersion(t, address, "v2-ms-sample."+domain, "v2")
			wantVersion(t, address, "ms-sample."+domain, "v1")

			l := startTraffic(t, regulars(through(address, "ms-sample."+domain))...)
			second.edit(t, `{"spec":{"current":true}}`)
			wantVersion(t, address, "ms-sample."+domain, "v2")
			l.stop(t, "the microservice's own name goes to another major version")
			s.kubectl(t, "delete", "-n", s.ns, "msd", "--all", "--wait")
			eventually.True(t, time.Minute, "the host names no longer resolve to a server", func() error {
				code, _, err := through(address, "v1-ms-sample."+domain).visit(t.Context())
				if err == nil && code != http.StatusNotFound {
					return fmt.Errorf("the response has status code %d", code)
				}
				return err
			})
		})
	}
}
