// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"crypto/tls"
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/opcrew/opcrew/test/e2e/etcd"
	"github.com/opcrew/opcrew/test/testenv"
)

const (
	articleEtcd = "example-etcd-cluster"
	dataLayer   = "data"
)

var (
	etcdKind = schema.GroupVersionKind{Group: "etcd.database.coreos.com", Version: "v1beta2", Kind: "EtcdCluster"}
	// dataUser is the user name of the account whose requests the tests count.
	dataUser = testenv.ServiceAccountUser(namespace, "opcrew-"+dataLayer)
)

// etcdTest is a namespace for an EtcdCluster with the name from the tutorial article about the CoreOS operator. Tests
// read the status of the EtcdCluster as clients of the CoreOS operator do.
type etcdTest struct {
	*cluster
	ns       string
	dns      string      // address of the cluster's DNS server
	security *tls.Config // TLS configuration of clients; nil for plain text
	// peers and servers sign the certificates of members. They are nil for plain text.
	peers, servers *authority
}

func newEtcdTest(t *testing.T, versions ...string) *etcdTest {
	t.Helper()
	c := connect(t)
	for _, version := range versions {
		c.wantImage(t, etcd.Image(version))
	}
	c.removePools(t) // otherwise, taints of NodePools from earlier tests would leave one node for all members
	ns := &corev1.Namespace{}
	ns.GenerateName = "etcd-"
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kubectl(t, "delete", "namespace", ns.Name, "--wait=false") })
	return &etcdTest{cluster: c, ns: ns.Name, dns: c.nameServer(t)}
}

// asked returns a spec with the given number of members and the given version. more lists additional fields of the
// spec.
func asked(size int, version string, more ...map[string]any) map[string]any {
	spec := map[string]any{"size": int64(size), "version": version}
	for _, m := range more {
		maps.Copy(spec, m)
	}
	return spec
}

// withClaims returns the part of a spec that gives every member a volume.
func withClaims() map[string]any {
	return map[string]any{"pod": map[string]any{"persistentVolumeClaimSpec": map[string]any{
		"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "64Mi"}},
	}}}
}

// storages returns the parts of a spec for both kinds of storage, for tests that run with each of them.
func storages() map[string]map[string]any {
	return map[string]map[string]any{"claims": withClaims(), "emptyDir": {}}
}

// object returns an EtcdCluster. If spec is nil, the object has no spec.
func (e *etcdTest) object(spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if spec != nil {
		o.Object["spec"] = spec
	}
	o.SetGroupVersionKind(etcdKind)
	o.SetNamespace(e.ns)
	o.SetName(articleEtcd)
	return o
}

// create creates the EtcdCluster and waits until it is ready.
func (e *etcdTest) create(t *testing.T, spec map[string]any) {
	t.Helper()
	if err := e.Create(t.Context(), e.object(spec)); err != nil {
		t.Fatal(err)
	}
	e.await(t, int(spec["size"].(int64)), spec["version"].(string))
}

// edit changes the spec by a JSON merge patch.
func (e *etcdTest) edit(t *testing.T, spec string) {
	t.Helper()
	e.kubectl(t, "patch", "-n", e.ns, "etcdcluster/"+articleEtcd, "--type=merge", "-p", fmt.Sprintf(`{"spec":%s}`, spec))
}

func (e *etcdTest) scale(t *testing.T, size int) {
	t.Helper()
	e.kubectl(t, "scale", "-n", e.ns, "etcdcluster/"+articleEtcd, fmt.Sprint("--replicas=", size))
}
