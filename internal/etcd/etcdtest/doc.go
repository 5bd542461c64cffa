// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdtest has etcd clusters that only exist in memory.
package etcdtest
