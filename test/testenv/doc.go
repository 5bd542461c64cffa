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
// This package starts the processes itself, without envtest: the kernel ends them with
// the test binary, so that a panic or a timeout leaves none behind; they are killed,
// while envtest stops them gracefully, which takes up to a minute; and a controller
// manager is included. envtest installs the CRDs.
//
// This package has the processes, the users, the nodes and the counting. Waiting is in
// package eventually, reading YAML in package manifest. Faults, workloads and
// benchmarks are elsewhere and use this package.
package testenv
