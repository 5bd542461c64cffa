// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"net"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hostilePods are the labels of the pods whose servers lie, by the kind of their object.
var hostilePods = map[string]client.MatchingLabels{
	"RedisEnterpriseCluster": {"app.kubernetes.io/name": "redis-enterprise"},
	"EtcdCluster":            {"app.kubernetes.io/name": "etcd"},
	"Memcached":              {"app.kubernetes.io/name": "memcached"},
	"Diva":                   {"app.kubernetes.io/name": "diva", "app.kubernetes.io/component": "client"},
}

// contact is a connection that a hostile server has logged: the address of the client, and the type of the wrong
// response.
type contact struct{ client, lie string }

// contacts returns the connections to the hostile servers of a kind, from the logs of the servers' containers.
func (c *cluster) contacts(t *testing.T, ns, kind string) []contact {
	t.Helper()
	clientset, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	var out []contact
	for _, pod := range c.podsOf(t, ns, kind) {
		for _, container := range pod.Spec.Containers {
			// Ignore the error: a container that has not started has no log.
			log, _ := clientset.CoreV1().Pods(ns).GetLogs(pod.Name, &corev1.PodLogOptions{Container: container.Name}).DoRaw(t.Context())
			out = append(out, parseContacts(string(log))...)
		}
	}
	return out
}

// podsOf returns the pods of a kind in the tenant's namespace.
func (c *cluster) podsOf(t *testing.T, ns, kind string) []corev1.Pod {
	t.Helper()
	pods := &corev1.PodList{}
	if err := c.List(t.Context(), pods, client.InNamespace(ns), hostilePods[kind]); err != nil {
		t.Fatal(err)
	}
	return pods.Items
}

// parseContacts returns the connections that the log of a hostile server lists.
func parseContacts(log string) (out []contact) {
	for line := range strings.Lines(log) {
		head, lie, found := strings.Cut(strings.TrimSpace(line), " gets: ")
		if fields := strings.Fields(head); found && len(fields) > 0 {
			out = append(out, contact{fields[len(fields)-1], lie})
		}
	}
	return out
}

// operatorAddresses returns the addresses of all pods of the operator.
func (c *cluster) operatorAddresses(t *testing.T) []string {
	t.Helper()
	pods := &corev1.PodList{}
	if err := c.List(t.Context(), pods, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, pod := range pods.Items {
		out = append(out, pod.Status.PodIP)
	}
	return out
}

// from returns the types of wrong responses that clients at these addresses got, with the number of connections.
func from(addresses []string, contacts []contact) map[string]int {
	out := map[string]int{}
	for _, c := range contacts {
		if host, _, err := net.SplitHostPort(c.client); err == nil && slices.Contains(addresses, host) {
			out[c.lie]++
		}
	}
	return out
}
