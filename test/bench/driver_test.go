// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build bench

package bench

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// opcrew is the name of the operator under test. Other measured operators only serve for comparison.
const opcrew = "opcrew"

// driver is an operator that the benchmarks measure.
type driver struct {
	name string
	// main is the path of the measured operator's main package, relative to the root of the repository.
	main string
	// args returns the command line with which the operator serves one kind in some namespaces, with its metrics at
	// address. If namespaces is empty, the operator serves all namespaces.
	args func(kind string, namespaces []string, address string) []string
	// scheme is the URL scheme of the measured operator's metrics.
	scheme string
	// kinds are the kinds that the operator supports. Empty means all kinds.
	kinds []string
}

// drivers returns opcrew and the operators with which it is compared.
func drivers() []driver {
	all := []driver{
		{opcrew, "./cmd/opcrew", func(kind string, namespaces []string, address string) []string {
			return []string{"--kinds=" + kind, "--namespaces=" + strings.Join(namespaces, ","),
				"--metrics-bind-address=" + address, "--health-probe-bind-address=0", "--leader-elect=false"}
		}, "https", nil},
		{"naive", "./test/bench/naive", func(kind string, namespaces []string, address string) []string {
			return []string{"--kind=" + kind, "--namespaces=" + strings.Join(namespaces, ","), "--metrics-bind-address=" + address}
		}, "http", []string{"nodepool", "memcached"}},
	}
	wanted := append(strings.Split(*only, ","), opcrew)
	return slices.DeleteFunc(all, func(d driver) bool { return !slices.Contains(wanted, d.name) })
}

// driversOf returns the measured operators that support a kind.
func driversOf(kind string) []driver {
	return slices.DeleteFunc(drivers(), func(d driver) bool { return len(d.kinds) > 0 && !slices.Contains(d.kinds, kind) })
}

// opcrewOnly returns opcrew, for kinds that it serves alone.
func opcrewOnly(t *testing.T) driver {
	t.Helper()
	for _, d := range drivers() {
		if d.gated() {
			return d
		}
	}
	t.Fatal("opcrew is not among the drivers")
	return driver{}
}

// gated reports whether the test fails if this operator makes a wrong number of requests.
func (d driver) gated() bool { return d.name == opcrew }

var (
	built   = map[string]string{}
	builtMu sync.Mutex
)

// binary returns the path of the measured operator's binary. The first call builds the binary for all tests.
func (d driver) binary(t *testing.T) string {
	t.Helper()
	builtMu.Lock()
	defer builtMu.Unlock()
	if built[d.name] == "" {
		file := filepath.Join(filepath.Dir(env.Kubeconfig), "bench-"+d.name)
		build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-trimpath", "-o", file, d.main)
		build.Dir = env.Root
		build.Env = append(build.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v\n%s", d.main, err, out)
		}
		built[d.name] = file
	}
	return built[d.name]
}
