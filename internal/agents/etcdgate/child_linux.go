// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package etcdgate

import "syscall"

// attributes returns attributes that make the kernel kill etcd when this process dies. Otherwise no process would
// report etcd's end, and the kubelet could start a second etcd beside it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
