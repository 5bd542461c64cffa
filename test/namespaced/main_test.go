// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaced

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
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
	"github.com/opcrew/opcrew/internal/stores/redis/redissim"
	"github.com/opcrew/opcrew/test/testenv"
)

var (
	env *testenv.Env
	// etcds and redises are fake etcd and Redis clusters in memory.
	etcds   = &etcdtest.World{LearnerLooks: 2, VersionLooks: 3, AdvanceMost: 4000}
	redises = &redissim.World{SyncLooks: 2}
)

// layers maps the name of each operator process to the kinds that it serves. The kinds use the fake etcd and Redis
// clusters.
func layers() map[string][]kit.Registration {
	out := map[string][]kit.Registration{}
	for _, kind := range []kit.Registration{
		nodepool.Kind(), activity.Kind(), appservice.Kind(), microservicedeploy.Kind(), diva.Kind(), memcached.Kind(),
		etcdcluster.KindWith(etcds.Dial), etcdbackup.Kind(), etcdrestore.Kind(), redisenterprisecluster.KindWith(redises.Dial),
	} {
		out[kind.Layer] = append(out[kind.Layer], kind)
	}
	return out
}

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	adds := []func(*runtime.Scheme) error{clientgoscheme.AddToScheme}
	for _, kinds := range layers() {
		for _, kind := range kinds {
			adds = append(adds, kind.AddToScheme)
		}
	}
	for _, add := range adds {
		if err := add(scheme); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	testenv.Run(m, &env, testenv.Options{
		CRDs:      []string{testenv.ProjectCRDs, "internal/kinds/microservicedeploy/integration/testdata/httproutes.yaml"},
		Scheme:    scheme,
		NodeGrace: 5 * time.Minute,
	})
}
