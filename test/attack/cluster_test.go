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

	"github.com/opcrew/opcrew/internal/kinds"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/trim"
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

// userRoles returns the roles in config/users for namespaced kinds. The tenant gets them in one namespace.
func userRoles() []string {
	var roles []string
	for _, kind := range kinds.All() {
		if kind.Name != "nodepool" { // a NodePool has no namespace
			roles = append(roles, "opcrew-"+kind.Name+"-editor")
		}
	}
	return roles
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
	for _, kind := range kinds.All(etcdcluster.KindWith(d.etcd)) {
		layers[kind.Layer] = append(layers[kind.Layer], adjust(kind))
	}
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, kinds.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c := &cluster{env: testenv.Start(t, testenv.Options{CRDs: []string{crds}, Scheme: scheme, NodeGrace: 5 * time.Minute}), dials: d, roles: userRoles(), trim: trim.Object}
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
