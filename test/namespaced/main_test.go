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

	"github.com/opcrew/opcrew/internal/kinds"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster"
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
	for _, kind := range kinds.All(etcdcluster.KindWith(etcds.Dial), redisenterprisecluster.KindWith(redises.Dial)) {
		out[kind.Layer] = append(out[kind.Layer], kind)
	}
	return out
}

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, kinds.AddToScheme} {
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
