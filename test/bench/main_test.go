// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	cachev1alpha1 "github.com/opcrew/opcrew/api/cache/v1alpha1"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/test/testenv"
)

var (
	env      *testenv.Env
	nodes    = flag.Int("nodes", 500, "how many nodes the pools share")
	pools    = flag.Int("pools", 5, "how many NodePools are made")
	objects  = flag.Int("objects", 200, "how many objects are made of each other kind")
	machines = flag.Int("machines", 100, "how many nodes the MachineConfigPool has")
	drifts   = flag.Int("drifts", 10, "how many objects are changed behind the operator's back")
	only     = flag.String("drivers", "opcrew,naive", "the operators to run, separated by commas; opcrew is always among them")
	limit    = flag.Duration("limit", 10*time.Minute, "how long an operator may take for one phase")
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	scheme := apiruntime.NewScheme()
	for _, add := range []func(*apiruntime.Scheme) error{clientgoscheme.AddToScheme, nodesv1.AddToScheme, cachev1alpha1.AddToScheme, customv1.AddToScheme, opsv1.AddToScheme, egov1.AddToScheme, etcdv1beta2.AddToScheme, mcfgv1.AddToScheme} {
		if err := add(scheme); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	// Install only the measured kinds, because the server watches every installed CRD.
	crds := []string{
		testenv.ProjectCRDs + "/nodes.lailin.xyz_nodepools.yaml", testenv.ProjectCRDs + "/cache.example.com_memcacheds.yaml",
		testenv.ProjectCRDs + "/custom.ops_microservicedeploys.yaml", testenv.ProjectCRDs + "/ops.xx.com_divas.yaml",
		testenv.ProjectCRDs + "/ego.example.com_activities.yaml",
		testenv.ProjectCRDs + "/etcd.database.coreos.com_etcdbackups.yaml", testenv.ProjectCRDs + "/etcd.database.coreos.com_etcdclusters.yaml",
		testenv.MachineConfigCRDs,
	}
	testenv.Run(m, &env, testenv.Options{CRDs: crds, Scheme: scheme, NodeGrace: 5 * time.Minute})
}
