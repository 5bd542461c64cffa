// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build fields

package fields

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/kinds"
	"github.com/opcrew/opcrew/internal/kinds/diva"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/sshkeys"
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
	"github.com/opcrew/opcrew/internal/stores/redis/redissim"
	"github.com/opcrew/opcrew/test/testenv"
)

var (
	env *testenv.Env
	// seen reads objects from a cache that watches keep up to date. So frequent reads cause no requests to the API
	// server.
	seen client.Reader
	// etcds and redises are fake etcd and Redis clusters in memory.
	etcds   = &etcdtest.World{LearnerLooks: 2, VersionLooks: 3, AdvanceMost: 4000}
	redises = &redissim.World{SyncLooks: 2}

	only = flag.String("fields.only", "", "carry out the rows whose kind and path contain this, such as 'AppService spec.ports'")
)

// layers maps the name of each operator process to the kinds that it serves. The kinds use the fake etcd and Redis
// clusters.
func layers() map[string][]kit.Registration {
	out := map[string][]kit.Registration{}
	for _, kind := range kinds.All(
		diva.KindReading(func(c kubernetes.Interface) diva.LogReader { return current{c}.log }),
		etcdcluster.KindWith(etcds.Dial),
		redisenterprisecluster.KindWith(redises.Dial),
	) {
		out[kind.Layer] = append(out[kind.Layer], kind)
	}
	return out
}

// current simulates the agents in the pods of Divas. Each agent reports that it serves the current content of its
// Secret.
type current struct{ kubernetes.Interface }

func (c current) log(ctx context.Context, pod *corev1.Pod) (string, error) {
	files := map[string][]byte{}
	for _, volume := range pod.Spec.Volumes {
		if volume.Name != "ssh-source" {
			continue
		}
		secret := &corev1.Secret{}
		if err := env.Client.Get(ctx, key(pod.Namespace, volume.Secret.SecretName), secret); err != nil {
			return "", err
		}
		for _, item := range volume.Secret.Items {
			if content, ok := secret.Data[item.Key]; ok {
				files[item.Path] = content
			}
		}
	}
	files, err := sshkeys.OwnFiles(files, pod.Name)
	return fmt.Sprintf("{\"msg\":\"Serving\",\"digest\":%q}\n", sshkeys.Digest(files)), err
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
		CRDs:   []string{testenv.ProjectCRDs, testenv.MachineConfigCRDs, "internal/kinds/microservicedeploy/integration/testdata/httproutes.yaml"},
		Scheme: scheme,
		// Heartbeats of the simulated nodes are rare, because each one costs the API server time.
		NodeGrace: 5 * time.Minute,
	})
}
