// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package etcdgate

import "syscall"

// attributes have the kernel kill etcd when this process has died, by whatever means: no one
// would be there to tell of it, and a second one could be started beside it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
