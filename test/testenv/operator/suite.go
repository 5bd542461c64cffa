// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package operator runs the operator of a kind in integration tests as it is deployed: the real manager with the
// ServiceAccount and the roles of its layer, on a real API server with the real controllers and simulated nodes. A
// package of tests has one Suite:
//
//	var env operator.Suite
//
//	func TestMain(m *testing.M) { operator.Main(m, &env, memcached.Kind()) }
//
// The kind's own integration tests check the kind's behavior.
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
	// Namespace is where the operator is deployed.
	Namespace = "opcrew-system"
	// Long limits how long a step may take on a busy machine. No passing test waits for all of it.
	Long = eventually.Long
	// Silence is how long the operator must be silent to count as at rest: twice the interval between two status
	// writes.
	Silence = time.Second
)

// Suite holds what the integration tests of a kind share.
type Suite struct {
	*testenv.Env
	// User is the operator's user name on the server.
	User string

	kinds      []kit.Registration // of one layer
	namespaces []string           // of a namespaced installation; empty: all
	account    string
	deployment sync.Once
	config     *rest.Config
}

// Main is for TestMain. It starts a server with the kind's CRDs, runs all tests of the package, and exits.
func Main(m *testing.M, s *Suite, kind kit.Registration) {
	ctrl.SetLogger(logr.Discard())
	s.serve(kind)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, kind.AddToScheme} {
		if err := add(scheme); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	testenv.Run(m, &s.Env, testenv.Options{
		CRDs: files(kind.CRDs), Scheme: scheme,
		// Heartbeats cost the server time; a test of lost nodes starts its own server.
		NodeGrace: 2 * time.Minute,
	})
}

// New returns a suite on a running server, for kinds of one layer that one process serves. The server has their CRDs,
// and its client knows their types.
func New(env *testenv.Env, kinds ...kit.Registration) *Suite {
	s := &Suite{Env: env}
	s.serve(kinds...)
	return s
}

// NewIn is New for an installation that serves only some namespaces, as make deploy NAMESPACES=a,b makes it. Kinds that
// such an installation does not serve are left out.
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

// files returns the files into which the generator writes the CRDs with these names.
func files(crds []string) []string {
	var out []string
	for _, name := range crds {
		plural, group, _ := strings.Cut(name, ".")
		out = append(out, fmt.Sprintf("%s/%s_%s.yaml", testenv.ProjectCRDs, group, plural))
	}
	return out
}

// Calls returns the operator's counted calls since a mark.
func (s *Suite) Calls(t testing.TB, mark testenv.Mark) testenv.Calls {
	t.Helper()
	return s.Audit.Since(t, mark).By(s.User).Counted()
}

// Settled waits until the operator is at rest, and returns its counted calls since the mark.
func (s *Suite) Settled(t testing.TB, mark testenv.Mark) testenv.Calls {
	t.Helper()
	s.Settle(t, s.User, 600*time.Millisecond, Long)
	return s.Calls(t, mark)
}

// Rests fails the test if the operator makes a call within twice the interval between two status writes.
func (s *Suite) Rests(t testing.TB) {
	t.Helper()
	s.Quiet(t, s.User, Silence)
}

// Until waits for an expectation, for as long as a busy machine may need.
func Until(t testing.TB, expectation string, check func() error) {
	t.Helper()
	eventually.True(t, Long, expectation, check)
}
