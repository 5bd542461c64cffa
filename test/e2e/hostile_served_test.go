// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// awaitVictims waits until the operator has connected to a hostile Redis server and to a hostile etcd server, and the
// hostile memcached servers and sshds accept connections. One connection to each of them shows that their logs list
// every client.
func (c *cluster) awaitVictims(t *testing.T, ns string) {
	t.Helper()
	operator := c.operatorAddresses(t)
	eventually.True(t, 4*time.Minute, "the operator reads hostile servers of Redis and etcd", func() error {
		for _, kind := range []string{"RedisEnterpriseCluster", "EtcdCluster"} {
			if len(from(operator, c.contacts(t, ns, kind))) == 0 {
				return fmt.Errorf("the operator has not connected to a server of a %s", kind)
			}
		}
		return nil
	})
	c.meet(t, ns, "Memcached", liars, "11211")
	c.meet(t, ns, "Diva", 2*liarDivas, "2222")
}

// meet connects to each hostile server of a kind, and waits until the log of the server shows the connection.
func (c *cluster) meet(t *testing.T, ns, kind string, servers int, port string) {
	t.Helper()
	met, seen := map[string]bool{}, []contact(nil)
	eventually.True(t, 3*time.Minute, fmt.Sprintf("%d servers of a %s log the connections of this test", servers, kind), func() error {
		for _, pod := range c.podsOf(t, ns, kind) {
			if met[pod.Name] {
				continue
			}
			conn, err := net.DialTimeout("tcp", net.JoinHostPort(pod.Status.PodIP, port), time.Second)
			if err != nil {
				return err
			}
			own := conn.LocalAddr().String()
			_ = conn.Close() // the server has accepted the connection
			seen = c.contacts(t, ns, kind)
			if !slices.ContainsFunc(seen, func(s contact) bool { return s.client == own }) {
				return fmt.Errorf("%s does not log the connection from %s, the logs show %v", pod.Name, own, seen)
			}
			met[pod.Name] = true
		}
		if len(met) < servers {
			return fmt.Errorf("%d servers do", len(met))
		}
		return nil
	})
}

// wantServersRead checks that the operator has received most of the types of wrong responses, from Redis and from etcd.
func (c *cluster) wantServersRead(t *testing.T, ns string) {
	t.Helper()
	for kind, least := range map[string]int{"RedisEnterpriseCluster": 12, "EtcdCluster": 4} {
		lies := from(c.operatorAddresses(t), c.contacts(t, ns, kind))
		t.Logf("%s: the operator met %d lies: %v", kind, len(lies), lies)
		if len(lies) < least {
			t.Errorf("expected the operator to meet at least %d lies of a %s, it met %d", least, kind, len(lies))
		}
	}
}

// wantNoConnections checks that the operator has connected to no memcached server and to no sshd, although others have.
func (c *cluster) wantNoConnections(t *testing.T, ns string) {
	t.Helper()
	for _, kind := range []string{"Memcached", "Diva"} {
		all := c.contacts(t, ns, kind)
		lies := from(c.operatorAddresses(t), all)
		t.Logf("%s: %d connections, of the operator: %v", kind, len(all), lies)
		if len(all) == 0 || len(lies) > 0 {
			t.Errorf("expected connections to the servers of a %s, and none of the operator, got %d, and of the operator %v", kind, len(all), lies)
		}
	}
}
