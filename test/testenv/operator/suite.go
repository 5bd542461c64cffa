// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package operator runs opcrew's operator in integration tests in the same way as a real installation does. It uses
// the real manager, a real API server with the real controllers, and simulated nodes. The manager has the
// ServiceAccount and the roles of the Deployment that serves the tested kind. Each package of tests has one Suite:
//
//	var env operator.Suite
//
//	func TestMain(m *testing.M) { operator.Main(m, &env, memcached.Kind()) }
//
// The tests themselves are in the packages of the kinds, such as internal/kinds/activity/integration.
package operator

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/opcrew/opcrew/hack/rights/namespaced"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	// Namespace is the namespace in which the operator is deployed.
	Namespace = "opcrew-system"
	// Long is the time limit of one step of a test. It is much longer than a step takes, because the machine may be
	// busy.
	Long = eventually.Long
	// Silence is the time without requests after which the operator counts as having nothing to do. It is twice the
	// interval between two status writes.
	Silence = time.Second
)

// Suite contains what all integration tests of a kind share.
type Suite struct {
	*testenv.Env
	// User is the user name of the operator.
	User string

	kinds      []kit.Registration // kinds that one Deployment of the operator serves
	namespaces []string           // namespaces that the installation serves; empty for all
	account    string
	deployment sync.Once
	config     *rest.Config
}

// Main is called by TestMain. It starts a server with the CRDs of the kinds, runs all tests of the package, and exits.
// One operator process serves all the given kinds.
func Main(m *testing.M, s *Suite, kinds ...kit.Registration) {
	ctrl.SetLogger(logr.Discard())
	s.serve(kinds...)
	scheme := runtime.NewScheme()
	adds, crds := []func(*runtime.Scheme) error{clientgoscheme.AddToScheme}, []string{}
	for _, kind := range kinds {
		adds, crds = append(adds, kind.AddToScheme), append(crds, kind.CRDs...)
	}
	for _, add := range adds {
		if err := add(scheme); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	testenv.Run(m, &s.Env, testenv.Options{
		CRDs: files(crds), Scheme: scheme,
		// Heartbeats are rare here, because they cost the server time. A test of lost nodes starts a separate server.
		NodeGrace: 2 * time.Minute,
	})
}

// New returns a suite for a running API server. One operator process serves all the given kinds, so they must be kinds
// that the same Deployment of opcrew serves. The API server must have their CRDs, and env.Client must know their types.
func New(env *testenv.Env, kinds ...kit.Registration) *Suite {
	s := &Suite{Env: env}
	s.serve(kinds...)
	return s
}

// NewIn is like New, but for an installation that serves only some namespaces (make deploy NAMESPACES=a,b). It leaves
// out kinds that such an installation does not serve.
func NewIn(t testing.TB, env *testenv.Env, namespaces []string, kinds ...kit.Registration) *Suite {
	t.Helper()
	layer := layerOf(t, env.Root, kinds[0].Layer)
	s := New(env, slices.DeleteFunc(slices.Clone(kinds), func(kind kit.Registration) bool {
		return !slices.Contains(namespaced.Served(layer), kind.Name)
	})...)
	s.namespaces = namespaces
	return s
}

func (s *Suite) serve(kinds ...kit.Registration) {
	s.kinds, s.account = kinds, "opcrew-"+kinds[0].Layer
	s.User = testenv.ServiceAccountUser(Namespace, s.account)
}

// files returns the names of the generated files that contain the CRDs with these names.
func files(crds []string) []string {
	var out []string
	for _, name := range crds {
		plural, group, _ := strings.Cut(name, ".")
		folder := testenv.ProjectCRDs
		if isMachineConfig(name) {
			folder = testenv.MachineConfigCRDs
		}
		out = append(out, fmt.Sprintf("%s/%s_%s.yaml", folder, group, plural))
	}
	return out
}

// isMachineConfig reports whether a CRD is one of those that are installed separately, with their policies.
func isMachineConfig(crd string) bool {
	return strings.HasSuffix(crd, ".machineconfiguration.openshift.io")
}

// Calls returns the counted requests that the operator has made since the mark (see Call.IsCounted).
func (s *Suite) Calls(t testing.TB, mark testenv.Mark) testenv.Calls {
	t.Helper()
	return s.Audit.Since(t, mark).By(s.User).Counted()
}

// Settled waits until the operator has nothing to do. It returns the counted requests (see Call.IsCounted) that the
// operator has made since the mark.
func (s *Suite) Settled(t testing.TB, mark testenv.Mark) testenv.Calls {
	t.Helper()
	s.Settle(t, s.User, 600*time.Millisecond, Long)
	return s.Calls(t, mark)
}

// Rests fails the test if the operator makes a request within the time Silence.
func (s *Suite) Rests(t testing.TB) {
	t.Helper()
	s.Quiet(t, s.User, Silence)
}

// Until waits until check returns nil. The time limit is long enough for a busy machine.
func Until(t testing.TB, expectation string, check func() error) {
	t.Helper()
	eventually.True(t, Long, expectation, check)
}
