// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package testenv provides a real Kubernetes API for integration tests, without root. It runs etcd, kube-apiserver and
// kube-controller-manager as child processes. On request, it also runs kube-scheduler and kwok, which simulates the
// kubelets of nodes and pods. So garbage collection, Deployments, StatefulSets, quotas and autoscalers behave as they
// do for a user. Tests can count all requests in the audit log.
//
// Each package of tests has one server, which TestMain starts:
//
//	var env *testenv.Env
//
//	func TestMain(m *testing.M) {
//		testenv.Run(m, &env, testenv.Options{CRDs: []string{testenv.ProjectCRDs}})
//	}
//
// This package starts the processes itself instead of using envtest, for three reasons. The kernel ends the processes
// with the test binary, so a panic or a timeout leaves none behind. The processes are killed, while envtest's graceful
// stop takes up to a minute. And envtest starts no controller manager. Only the CRDs are installed with envtest.
//
// This package contains processes, users, nodes and request counts. Package eventually waits for conditions, and
// package manifest reads YAML files. Fault tests, field tests and benchmarks use this package too.
package testenv
