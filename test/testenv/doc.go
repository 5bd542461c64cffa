// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package testenv gives integration tests a real Kubernetes API without root:
// etcd, kube-apiserver and kube-controller-manager as child processes, and on
// demand kube-scheduler and kwok, which simulates kubelets of nodes and pods.
// Garbage collection, Deployments, StatefulSets, quotas and autoscalers therefore
// behave as they do for a user, and every answered request can be counted from the
// audit log.
//
// A package of tests has one server, started by TestMain:
//
//	var env *testenv.Env
//
//	func TestMain(m *testing.M) {
//		testenv.Run(m, &env, testenv.Options{CRDs: []string{testenv.ProjectCRDs}})
//	}
//
// This package starts the processes itself instead of using envtest. The kernel ends them with the test binary, so that
// a panic or a timeout leaves none behind. They are killed, while envtest's graceful stop takes up to a minute. And
// there is a controller manager. Only the CRDs are installed by envtest.
//
// This package contains processes, users, nodes and request counts. Package eventually waits for conditions, and
// package manifest reads YAML. Fault tests, workloads and benchmarks use this package.
package testenv
