// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && machines

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/podapi/nodefirewall"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// hostFirewall is a firewall of a host, with shell commands. Each administrator's configuration keeps the pod network
// and the kubelet open.
type hostFirewall struct {
	enable, disable, list string
	// lose removes opcrew's rules, as an administrator may.
	lose string
	mark string // in each rule of opcrew
}

func hostFirewalls() map[string]hostFirewall {
	return map[string]hostFirewall{
		"firewalld": {
			enable: "systemctl start firewalld && firewall-cmd --permanent --zone=trusted --add-source=10.244.0.0/16 &&" +
				" firewall-cmd --permanent --add-port=10250/tcp && firewall-cmd --reload",
			disable: "systemctl stop firewalld && rm -rf /etc/firewalld/zones/*",
			list:    "firewall-cmd --list-all-zones",
			lose:    "firewall-cmd --reload",
			mark:    `priority="32421"`,
		},
		"ufw": {
			enable: "ufw default deny incoming && ufw default allow routed && ufw allow 22/tcp && ufw allow 10250/tcp &&" +
				" ufw allow from 10.244.0.0/16 && ufw --force enable",
			disable: "ufw --force reset",
			list:    "ufw show added",
			lose:    "ufw show added | grep opcrew | sed -e 's/^ufw /ufw delete /' -e 's/ comment .*//' | sh",
			mark:    "'opcrew hostFirewall'",
		},
	}
}

func TestAPoolOpensItsPortsInTheFirewallOfTheHost(t *testing.T) {
	c := connect(t)
	for name, f := range hostFirewalls() {
		t.Run(name, func(t *testing.T) { c.opensHostFirewall(t, name, f) })
	}
}

func (c *cluster) opensHostFirewall(t *testing.T, name string, f hostFirewall) {
	c.removePools(t)
	w := newWalls(t, c)
	shell := func(command string) string { return c.onHost(t, "node2", "sh", "-c", command) }
	c.role(t, "node1", "edge")
	c.role(t, "node2", "wall")
	t.Cleanup(func() { shell(f.disable) })
	shell(f.enable)
	before := shell(f.list)
	w.apply(t, fmt.Sprintf(wallPool, w.ns))
	w.active(t, 1)
	w.expect(t, "node1", "node2", 8080, false) // the other firewall drops what opcrew allows
	w.wantFirewall(t, "node2 ("+name+")", "hostFirewall: Open")

	c.kubectl(t, "patch", "nodepool", "wall", "--type=merge", "-p", `{"spec":{"firewall":{"hostFirewall":"Open"}}}`)
	w.active(t, 1)
	w.wantFirewall(t, "another firewall has them as well on node2 ("+name+")")
	w.expect(t, "node1", "node2", 8080, true)
	w.expect(t, "node3", "node2", 8080, false)
	t.Logf("%s has %d rules of opcrew", name, strings.Count(shell(f.list), f.mark))

	if left := shell(f.lose + " && " + f.list); strings.Contains(left, f.mark) {
		t.Errorf("expected the rules of opcrew to be lost, got\n%s", left)
	}
	eventually.True(t, firewallTime, "the rules are repaired", func() error {
		if !strings.Contains(shell(f.list), f.mark) {
			return errors.New("they are not there yet")
		}
		return nil
	})
	w.expect(t, "node1", "node2", 8080, true)

	c.kubectl(t, "label", "node", "node2", "node-role.kubernetes.io/wall-") // the leave closes the port again
	w.expect(t, "node1", "node2", 8080, false)
	eventually.True(t, firewallTime, name+" is as it was", func() error {
		if after := shell(f.list); after != before {
			return fmt.Errorf("it lists\n%s\ninstead of\n%s", after, before)
		}
		return nil
	})
	c.kubectl(t, "delete", "nodepool", "wall", "edge", "--timeout=120s")
	w.withoutHostAgents(t)
}

// ufw keeps its rules on disk, so a node that lost its power while the pool was deleted must close them when it returns.
func TestAPowerCutLeavesNothingInTheFirewallOfTheHost(t *testing.T) {
	c := connect(t)
	c.removePools(t)
	w := newWalls(t, c)
	f := hostFirewalls()["ufw"]
	list := func() string { return c.onHost(t, "node2", "sh", "-c", f.list) }
	c.role(t, "node1", "edge")
	c.role(t, "node2", "wall")
	t.Cleanup(func() { c.onHost(t, "node2", "sh", "-c", f.disable) })
	c.onHost(t, "node2", "sh", "-c", f.enable)
	before := list()
	w.apply(t, fmt.Sprintf(wallPool, w.ns))
	c.kubectl(t, "patch", "nodepool", "wall", "--type=merge", "-p", `{"spec":{"firewall":{"hostFirewall":"Open"}}}`)
	w.wantFirewall(t, "another firewall has them as well on node2 (ufw)")
	if !strings.Contains(list(), f.mark) {
		t.Fatal("expected ufw to have rules of opcrew")
	}
	c.run(t, "localcluster", "node", "crash", "node2")
	c.kubectl(t, "wait", "--for=condition=Ready=Unknown", "node/node2", "--timeout=120s")
	c.kubectl(t, "delete", "nodepool", "wall", "edge", "--timeout=120s")
	c.run(t, "localcluster", "node", "start", "node2")
	eventually.True(t, 2*firewallTime, "ufw is as it was", func() error {
		if after := list(); after != before {
			return fmt.Errorf("it lists\n%s\ninstead of\n%s", after, before)
		}
		return nil
	})
	w.withoutHostAgents(t)
}

func (w *walls) withoutHostAgents(t *testing.T) {
	t.Helper()
	eventually.True(t, firewallTime, "no agent of the host's firewall is left", func() error {
		err := w.Get(t.Context(), client.ObjectKey{Namespace: nodefirewall.Namespace, Name: nodefirewall.HostName}, &appsv1.DaemonSet{})
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("the DaemonSet exists (%w)", errors.Join(err, errors.New("not as expected")))
		}
		return nil
	})
}

// wantFirewall waits until the condition of the firewall has some words.
func (w *walls) wantFirewall(t *testing.T, words ...string) {
	t.Helper()
	eventually.True(t, firewallTime, fmt.Sprintf("the condition has the words %q", words), func() error {
		pool := &nodesv1.NodePool{}
		if err := w.Get(t.Context(), client.ObjectKey{Name: "wall"}, pool); err != nil {
			return err
		}
		found := meta.FindStatusCondition(pool.Status.Conditions, nodesv1.NodePoolFirewallActive)
		for _, word := range words {
			if found == nil || !strings.Contains(found.Message, word) {
				return fmt.Errorf("the condition is %+v", found)
			}
		}
		return nil
	})
}
