// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	applicationsLayer = "applications"
	// agentContainer is the name of the container in the pods of a Diva whose log the operator reads.
	agentContainer = "ssh-files"
	// longestMessage is the maximum length of a condition's message in bytes.
	longestMessage = 1024
	// leastReads is the minimum number of hostile logs that the operator reads during the attack.
	leastReads = 20
)

// applicationsUser is the user name of the account of the layer that reads the logs.
var applicationsUser = testenv.ServiceAccountUser(namespace, "opcrew-"+applicationsLayer)

// replaceAgents replaces the agents in all pods of the tenant's Divas, as everyone can who may update pods, and waits
// until the hostile agents run.
func (c *cluster) replaceAgents(t *testing.T, ns string) {
	t.Helper()
	pods := &corev1.PodList{}
	eventually.True(t, 2*time.Minute, "all pods of the Divas exist", func() error {
		err := c.List(t.Context(), pods, client.InNamespace(ns), client.MatchingLabels{"app.kubernetes.io/name": "diva"})
		if n := 3 * liarDivas; err == nil && len(pods.Items) != n {
			err = fmt.Errorf("%d of %d exist", len(pods.Items), n)
		}
		return err
	})
	for _, pod := range pods.Items {
		c.kubectl(t, "set", "image", "-n", ns, "pod/"+pod.Name, agentContainer+"="+hostileAgent)
	}
	for _, pod := range pods.Items {
		eventually.True(t, 2*time.Minute, "the hostile agent of "+pod.Name+" runs", func() error {
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(&pod), &pod); err != nil {
				return err
			}
			return hostileAgentRuns(&pod)
		})
	}
}

func hostileAgentRuns(pod *corev1.Pod) error {
	for _, s := range pod.Status.InitContainerStatuses {
		if s.Name == agentContainer && s.State.Running != nil && strings.Contains(s.Image, "hostile-agent") {
			return nil
		}
	}
	return fmt.Errorf("the init containers are %+v", pod.Status.InitContainerStatuses)
}

// rotateKeys makes the operator rotate the keys of the tenant's Divas, for which it reads the agents' logs.
func (c *cluster) rotateKeys(t *testing.T, ns string) {
	t.Helper()
	c.kubectl(t, "annotate", "-n", ns, "dv", "--all", opsv1.RotateAnnotation+"="+time.Now().Format(time.RFC3339))
}

// wantLogsRead checks in the API server's audit log that the operator has read the logs of the hostile agents.
func (c *cluster) wantLogsRead(t *testing.T, calls testenv.Calls, ns string) {
	t.Helper()
	reads := calls.By(applicationsUser).On("pods/log").Where(func(call testenv.Call) bool { return call.Namespace == ns })
	t.Logf("the operator read %d hostile logs", len(reads))
	if len(reads) < leastReads {
		t.Errorf("expected the operator to read at least %d hostile logs, it read %d", leastReads, len(reads))
	}
}

// wantReportsRefused checks that no forged report advances a rotation.
func (c *cluster) wantReportsRefused(t *testing.T, ns string) {
	t.Helper()
	divas := &opsv1.DivaList{}
	if err := c.List(t.Context(), divas, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	if len(divas.Items) != liarDivas {
		t.Errorf("expected %d Divas, got %d", liarDivas, len(divas.Items))
	}
	for _, d := range divas.Items {
		if d.Status.SSH == nil || d.Status.SSH.Phase != opsv1.SSHAuthorizing {
			t.Errorf("expected the rotation of %s to wait for its client pods, its keys are %+v", d.Name, d.Status.SSH)
		}
		wantShort(t, d.Name, d.Status.Conditions)
	}
}

// wantQuotesShort checks that a Memcached whose exporter ends with a huge message quotes only the end of the message.
func (c *cluster) wantQuotesShort(t *testing.T, ns string) {
	t.Helper()
	for i := range liars {
		m := &cachev1alpha1.Memcached{}
		name := fmt.Sprintf("cache-%d", i)
		eventually.True(t, 2*time.Minute, "Ready of "+name+" says that the exporter crashes", func() error {
			if err := c.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, m); err != nil {
				return err
			}
			if ready := meta.FindStatusCondition(m.Status.Conditions, cachev1alpha1.MemcachedReady); ready == nil || !strings.Contains(ready.Message, "container exporter crashes") {
				return fmt.Errorf("it is %+v", ready)
			}
			return nil
		})
		wantShort(t, name, m.Status.Conditions)
	}
}

func wantShort(t *testing.T, name string, conditions []metav1.Condition) {
	t.Helper()
	for _, c := range conditions {
		if len(c.Message) > longestMessage || strings.ContainsAny(c.Message, "\x00\x1b\u202e") {
			t.Errorf("expected a short message without control characters in condition %s of %s, got %d bytes: %q", c.Type, name, len(c.Message), c.Message)
		}
	}
}

// reaction edits the test's Diva, and returns how long the operator takes to carry out the edit. No pod restarts.
func (d *divaTest) reaction(t *testing.T) time.Duration {
	t.Helper()
	began, service := time.Now(), &corev1.Service{}
	protocol := fmt.Sprintf("example.com/v%d", began.Unix())
	d.kubectl(t, "patch", "-n", d.ns, "dv/"+articleDiva, "--type=merge", "-p", `{"spec":{"manager":{"ports":[{"name":"http","port":80,"targetPort":8080,"appProtocol":"`+protocol+`"}]}}}`)
	eventually.True(t, 5*time.Minute, "the Service has the protocol "+protocol, func() error {
		err := d.Get(t.Context(), client.ObjectKey{Namespace: d.ns, Name: articleDiva + "-manager"}, service)
		if found := service.Spec.Ports; err == nil && (len(found) != 1 || found[0].AppProtocol == nil || *found[0].AppProtocol != protocol) {
			err = fmt.Errorf("its ports are %+v", found)
		}
		return err
	})
	return time.Since(began)
}
