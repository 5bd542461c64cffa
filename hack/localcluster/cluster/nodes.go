// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/opcrew/opcrew/hack/localcluster/machine"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// awaitNodes waits until all nodes are Ready. After a timeout its error contains the state of the first node that is
// not Ready, and the end of its kubelet's log.
func awaitNodes(ctx context.Context, st *state.State) error {
	var why map[string]string
	for {
		got, err := notReady(ctx, st)
		if err == nil && len(got) == 0 {
			return nil
		}
		if err == nil {
			why = got
		}
		select {
		case <-ctx.Done():
			return explain(st, why, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func explain(st *state.State, why map[string]string, err error) error {
	for _, n := range st.Nodes {
		if reason, ok := why[n.Name]; ok {
			return fmt.Errorf("%s: %s\nkubelet:\n%s", n.Name, reason, machine.LogTail(st, n.Name, "kubelet", 15))
		}
	}
	return err
}

// notReady returns the reason for each node that is not Ready.
func notReady(ctx context.Context, st *state.State) (map[string]string, error) {
	nodes, err := listNodes(ctx, st)
	if err != nil {
		return nil, err
	}
	why := map[string]string{}
	for _, n := range st.Nodes {
		why[n.Name] = "not registered"
	}
	for _, n := range nodes {
		why[n.Name] = readiness(n)
		// A status that the kubelet reported before the node's last crash is stale.
		if id, err := os.ReadFile(st.BootIDFile(n.Name)); err == nil && string(id) != n.Status.NodeInfo.BootID {
			why[n.Name] = "no report of its kubelet since its start"
		}
	}
	maps.DeleteFunc(why, func(_, reason string) bool { return reason == "" })
	return why, nil
}

func listNodes(ctx context.Context, st *state.State) ([]corev1.Node, error) {
	config, err := clientcmd.BuildConfigFromFlags("", st.Kubeconfig())
	if err != nil {
		return nil, err
	}
	config.Timeout = 5 * time.Second
	config.UserAgent = machine.Program
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return list.Items, nil
}

// readiness returns why a node cannot run pods yet, or "" if it can. A Ready node still has the not-ready taint for a
// moment, which keeps pods away.
func readiness(n corev1.Node) string {
	for _, c := range n.Status.Conditions {
		if c.Type != corev1.NodeReady {
			continue
		}
		if c.Status != corev1.ConditionTrue {
			return fmt.Sprintf("NotReady: %s: %s", c.Reason, c.Message)
		}
		for _, t := range n.Spec.Taints {
			if strings.HasPrefix(t.Key, "node.kubernetes.io/") && t.Key != corev1.TaintNodeUnschedulable {
				return "tainted " + t.Key
			}
		}
		return ""
	}
	return "no Ready condition yet"
}
