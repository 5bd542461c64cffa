// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package etcdgate

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }
