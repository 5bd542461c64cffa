// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/test/e2e/etcd"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// memberIDs returns the names of the members and the IDs that etcd has assigned to them, as text.
func (e *etcdTest) memberIDs(t *testing.T) string {
	t.Helper()
	var ids []string
	eventually.True(t, 30*time.Second, "the members are listed", func() error {
		return e.ask(t, e.serviceURL(), func(ctx context.Context, c *clientv3.Client) error {
			list, err := c.MemberList(ctx)
			if err != nil {
				return err
			}
			ids = nil
			for _, m := range list.Members {
				ids = append(ids, fmt.Sprintf("%s=%x", m.Name, m.ID))
			}
			return nil
		})
	})
	return strings.Join(slices.Sorted(slices.Values(ids)), " ")
}

func TestAnEtcdClusterThatSleepsWakesWithItsMembersAndItsData(t *testing.T) {
	e := newEtcdTest(t, etcd.V36)
	e.create(t, asked(3, etcd.V36, withClaims()))
	e.put(t, "foo", "bar")
	id, members := e.await(t, 3, etcd.V36).ClusterID, e.memberIDs(t)

	e.edit(t, `{"hibernate":true}`)
	e.awaitSays(t, metav1.ConditionTrue, "Hibernating: The cluster is hibernating (spec.hibernate), so no member is running; the claims of 3 members are kept")
	eventually.True(t, time.Minute, "no member runs", func() error {
		if pods := e.pods(t); len(pods) > 0 {
			return fmt.Errorf("the pods are %q", names(pods))
		}
		return nil
	})
	e.edit(t, `{"hibernate":false}`)
	if now := e.await(t, 3, etcd.V36).ClusterID; now != id {
		t.Errorf("the cluster ID was %s and is %s", id, now)
	}
	if now := e.memberIDs(t); now != members {
		t.Errorf("the members were %s and are %s", members, now)
	}
	e.wantValue(t, "foo", "bar")
}

func TestAPausedEtcdClusterIsLeftAlone(t *testing.T) {
	e := newEtcdTest(t, etcd.V36)
	e.create(t, asked(3, etcd.V36))
	members := e.memberIDs(t)
	e.edit(t, `{"paused":true,"size":1}`)
	e.awaitSays(t, metav1.ConditionFalse, "Paused: spec.paused: ")
	// If the cluster were not paused, the operator would reconcile it twice within ten seconds.
	eventually.Stays(t, 10*time.Second, "a paused cluster keeps its members", func() error {
		if now := e.memberIDs(t); now != members {
			return fmt.Errorf("the members were %s and are %s", members, now)
		}
		return nil
	})
	e.edit(t, `{"paused":false}`)
	e.await(t, 1, etcd.V36)
}

// After kubectl delete --cascade=orphan, the members of the old cluster still run. A new EtcdCluster has the same
// names, and no client may reach members of both clusters.
func TestAnEtcdClusterOfTheNameOfAnOrphanedOneIsNotMixedWithIt(t *testing.T) {
	e := newEtcdTest(t, etcd.V36)
	e.create(t, asked(3, etcd.V36))
	e.put(t, "foo", "old")
	old := names(e.pods(t))
	e.kubectl(t, "delete", "-n", e.ns, "etcdcluster/"+articleEtcd, "--cascade=orphan")
	if err := e.Create(t.Context(), e.object(asked(3, etcd.V36))); err != nil {
		t.Fatal(err)
	}
	e.awaitSays(t, metav1.ConditionFalse, "NameTaken: ")
	e.wantAlways(t, "foo", "old")

	// Run the command that the status message suggests.
	e.kubectl(t, "delete", "-n", e.ns, "service/"+articleEtcd, "service/"+articleEtcd+"-client", "configmap/"+articleEtcd+"-connection", "pdb/"+articleEtcd, "networkpolicy/"+articleEtcd+"-network")
	e.awaitSays(t, metav1.ConditionTrue, "AllMembersReady")
	e.put(t, "foo", "new")
	e.wantAlways(t, "foo", "new")
	for _, name := range old {
		if !slices.Contains(names(e.pods(t)), name) {
			t.Errorf("%s, which has the data of the orphaned cluster, is gone", name)
		}
	}
}

// wantAlways reads a key many times through the client Service. It opens a new connection for each read, because each
// connection may reach a different member.
func (e *etcdTest) wantAlways(t *testing.T, key, value string) {
	t.Helper()
	for range 30 {
		e.wantValue(t, key, value)
	}
}

func TestAUsersChangeOfAMemberOfAnEtcdClusterIsReverted(t *testing.T) {
	e := newEtcdTest(t, etcd.V36)
	e.create(t, asked(3, etcd.V36))
	members, before := e.memberIDs(t), e.pods(t)
	pod := before[1].Name
	e.kubectl(t, "label", "pod", "-n", e.ns, pod, "app=foo", "--overwrite")
	e.kubectl(t, "annotate", "pod", "-n", e.ns, pod, "etcd.version=1.1.1", "--overwrite")
	eventually.True(t, 30*time.Second, "the operator restores the label and the annotation", func() error {
		now := &corev1.Pod{}
		if err := e.Get(t.Context(), client.ObjectKey{Namespace: e.ns, Name: pod}, now); err != nil {
			return err
		}
		if now.Labels["app"] != "etcd" || now.Annotations["etcd.version"] != etcd.V36 || now.UID != before[1].UID {
			return fmt.Errorf("the labels are %v and the annotations are %v", now.Labels, now.Annotations)
		}
		return nil
	})
	e.await(t, 3, etcd.V36)
	if now := e.memberIDs(t); now != members {
		t.Errorf("the members were %s and are %s", members, now)
	}
}

func TestAVersionThatAnEtcdClusterCannotGoToIsRefusedInWords(t *testing.T) {
	e := newEtcdTest(t, etcd.V35, etcd.V36)
	e.create(t, asked(1, etcd.V36))
	e.put(t, "foo", "bar")
	before := e.pods(t)[0]
	e.edit(t, fmt.Sprintf(`{"version":%q}`, etcd.V35))
	e.awaitSays(t, metav1.ConditionFalse, "a downgrade to "+etcd.V35+" is not possible")
	e.wantValue(t, "foo", "bar")
	e.edit(t, fmt.Sprintf(`{"version":%q}`, etcd.V36))
	e.await(t, 1, etcd.V36)
	if now := e.pods(t)[0]; now.UID != before.UID || restarts(now) != restarts(before) {
		t.Error("a refused change should have affected no member")
	}
}

func restarts(pod corev1.Pod) int32 {
	var n int32
	for _, status := range pod.Status.ContainerStatuses {
		n += status.RestartCount
	}
	return n
}

func TestRenewedCertificatesOfAnEtcdClusterAreUsedWithoutARestart(t *testing.T) {
	e := newEtcdTest(t, etcd.V36)
	e.create(t, asked(3, etcd.V36, withClaims(), e.withTLS(t)))
	before := e.pods(t)
	e.during(t, "the renewal of all certificates", false, func() {
		serials := e.serials(t)
		e.renew(t)
		eventually.True(t, 4*time.Minute, "every member shows its new certificate", func() error {
			for name, serial := range e.serials(t) {
				if serial == serials[name] {
					return fmt.Errorf("%s shows the old one", name)
				}
			}
			return nil
		})
	})
	e.await(t, 3, etcd.V36)
	e.put(t, "foo", "bar") // works only if the members are connected
	for i, p := range e.pods(t) {
		if p.UID != before[i].UID || restarts(p) != restarts(before[i]) {
			t.Errorf("%s should not have been restarted", p.Name)
		}
	}
	// The operator scales the cluster only if it accepts the new certificates.
	e.scale(t, 1)
	e.await(t, 1, etcd.V36)
}

// renew issues all certificates again. The same authorities sign them.
func (e *etcdTest) renew(t *testing.T) {
	t.Helper()
	members, service := fmt.Sprintf("*.%s.%s.svc", articleEtcd, e.ns), fmt.Sprintf("%s-client.%s.svc", articleEtcd, e.ns)
	e.replace(t, e.peers, "etcd-peer-tls", "peer", members, members+".cluster.local")
	e.replace(t, e.servers, "etcd-server-tls", "server", members, members+".cluster.local", service, service+".cluster.local", "localhost")
	e.replace(t, e.servers, "etcd-client-tls", "etcd-client")
}

func (e *etcdTest) replace(t *testing.T, a *authority, name, files string, hosts ...string) {
	t.Helper()
	s := &corev1.Secret{}
	if err := e.Get(t.Context(), client.ObjectKey{Namespace: e.ns, Name: name}, s); err != nil {
		t.Fatal(err)
	}
	s.Data = a.files(t, name, files, hosts...)
	if err := e.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// serials returns the serial numbers of the certificates that members present to clients. The keys are names of
// members.
func (e *etcdTest) serials(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, p := range e.pods(t) {
		host := fmt.Sprintf("%s.%s.%s.svc", p.Name, articleEtcd, e.ns)
		raw, err := e.dial(t.Context(), host+":2379")
		if err != nil {
			t.Fatal(err)
		}
		config := e.security.Clone()
		config.ServerName = host
		conn := tls.Client(raw, config)
		err = conn.HandshakeContext(t.Context())
		if err == nil {
			out[p.Name] = conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
		}
		_ = raw.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
