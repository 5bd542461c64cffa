// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// The operator must make every sample Ready, and clean up after it, even if it runs where it cannot reach pods over the
// network.
func TestMakeRunServesTheSamplesFromALaptopThatReachesOnlyTheAPIServer(t *testing.T) {
	c := connect(t)
	c.removePools(t)
	laptop := newIsland(t, c)
	c.wantUnreachable(t, laptop)

	output := laptop.start(t, c, "make", "run")
	says := func(words string) func() error {
		return func() error {
			if text, err := os.ReadFile(output); err != nil || !regexp.MustCompile(words).Match(text) {
				return errors.Join(fmt.Errorf("expected it to say %s, it says\n%s", words, text), err)
			}
			return nil
		}
	}
	eventually.True(t, 5*time.Minute, "make run waits for the deployed operator", says("waits until that process ends"))
	c.withoutOperator(t)
	eventually.True(t, time.Minute, "make run prints which kinds it serves", says(`etcdcluster +yes +members are reached by port-forward`))
	c.applySamples(t)
}

// withoutOperator scales the deployed operator to zero until the test ends.
func (c *cluster) withoutOperator(t *testing.T) {
	t.Helper()
	c.kubectl(t, "-n", namespace, "scale", "deployment", "--all", "--replicas", "0")
	t.Cleanup(func() {
		c.kubectl(t, "-n", namespace, "scale", "deployment", "--all", "--replicas", "2")
		for _, layer := range []string{"machines", "applications", dataLayer} {
			c.kubectl(t, "-n", namespace, "rollout", "status", "deployment/opcrew-"+layer, "--timeout", "180s")
		}
	})
}

// wantUnreachable checks that this machine can connect to a pod, but the simulated laptop cannot.
func (c *cluster) wantUnreachable(t *testing.T, laptop *island) {
	t.Helper()
	pods := &corev1.PodList{}
	if err := c.List(t.Context(), pods, client.InNamespace(namespace), client.MatchingFields{"status.phase": string(corev1.PodRunning)}); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) == 0 {
		t.Fatal("found no pod of the operator")
	}
	address := net.JoinHostPort(pods.Items[0].Status.PodIP, "8081") // port of the operator's health probes
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		t.Fatalf("expected this machine to reach %s: %v", address, err)
	}
	conn.Close()
	if err := laptop.reaches(address); err == nil {
		t.Fatalf("expected the laptop not to reach %s", address)
	}
}
