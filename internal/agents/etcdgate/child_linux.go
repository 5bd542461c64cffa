// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package etcdgate

import "syscall"

// attributes returns process attributes that make the kernel kill etcd when this process dies. An etcd without this
// process would not be seen by the kubelet, which could then start a second etcd on the same data.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
