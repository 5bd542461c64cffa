// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package testenv gives integration tests a real Kubernetes API without root:
// etcd, kube-apiserver and kube-controller-manager as child processes, and on
// demand kube-scheduler and kwok, which plays kubelet for nodes and pods that do
// not exist. Garbage collection, Deployments, StatefulSets, quotas and
// autoscalers therefore behave as they do for a user, and every request that the
// server answered can be counted from its audit log.
//
// A package of tests has one server, started by TestMain:
//
//	var env *testenv.Env
//
//	func TestMain(m *testing.M) {
//		testenv.Run(m, &env, testenv.Options{CRDs: []string{testenv.ProjectCRDs}})
//	}
//
// The processes are our own and not envtest's: they are tied to the life of the
// test binary by the kernel, so that a panic or a timeout leaves none behind; they
// are killed and not asked to leave, which takes envtest up to a minute; and the
// controller manager runs beside them. What envtest does well, installing
// CRDs, is left to it.
//
// Here live the processes, the users, the nodes and the counting. Waiting is in
// package eventually, reading YAML in package manifest. Faults, workloads and
// benchmarks are not here; they stand on this package.
package testenv
