// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build attack

package attack

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/opcrew/opcrew/internal/kinds/activity"
	"github.com/opcrew/opcrew/internal/kinds/appservice"
	"github.com/opcrew/opcrew/internal/kinds/diva"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster"
	"github.com/opcrew/opcrew/internal/kinds/etcdrestore"
	"github.com/opcrew/opcrew/internal/kinds/memcached"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy"
	"github.com/opcrew/opcrew/internal/kinds/nodepool"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// cluster is an API server with the operators of all layers, and the roles that a tenant gets.
type cluster struct {
	env   *testenv.Env
	dials *dials
	roles []string
	// trim is the transform function of the operators' caches, which removes parts of objects.
	trim func(any) (any, error)
}

// userRoles are the roles in config/users for namespaced kinds. The tenant gets them in one namespace.
var userRoles = []string{
	"opcrew-activity-editor", "opcrew-appservice-editor", "opcrew-diva-editor", "opcrew-etcdbackup-editor", "opcrew-etcdcluster-editor",
	"opcrew-etcdrestore-editor", "opcrew-memcached-editor", "opcrew-microservicedeploy-editor", "opcrew-redisenterprisecluster-editor",
}

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	if hostile() {
		return
	}
	os.Exit(m.Run())
}

// defended starts a cluster with all defences, as opcrew is installed.
func defended(t *testing.T) *cluster {
	t.Helper()
	return start(t, testenv.ProjectCRDs, func(kind kit.Registration) kit.Registration { return kind })
}

func start(t *testing.T, crds string, adjust func(kit.Registration) kit.Registration) *cluster {
	t.Helper()
	d := &dials{}
	layers, scheme := map[string][]kit.Registration{}, runtime.NewScheme()
	adds := []func(*runtime.Scheme) error{clientgoscheme.AddToScheme}
	for _, kind := range []kit.Registration{
		nodepool.Kind(), activity.Kind(), appservice.Kind(), microservicedeploy.Kind(), diva.Kind(), memcached.Kind(),
		etcdcluster.KindWith(d.etcd), etcdbackup.Kind(), etcdrestore.Kind(), redisenterprisecluster.Kind(),
	} {
		layers[kind.Layer], adds = append(layers[kind.Layer], adjust(kind)), append(adds, kind.AddToScheme)
	}
	for _, add := range adds {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c := &cluster{env: testenv.Start(t, testenv.Options{CRDs: []string{crds}, Scheme: scheme, NodeGrace: 5 * time.Minute}), dials: d, roles: userRoles, trim: kit.Trim}
	keepOffControlPlane(t, c.env)
	for layer := range layers {
		operator.New(c.env, layers[layer]...).CheckingOperator(t)
	}
	for _, object := range operator.Built(t, c.env.Root, "config/users") {
		c.env.ApplyObject(t, object)
	}
	return c
}

// String returns the name of the cluster in failure messages.
func (c *cluster) String() string { return fmt.Sprint("the server at ", c.env.Config.Host) }
