// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import "errors"

var (
	errRefused = errors.New("connection refused")
	errClosed  = errors.New("the connections have been closed")
	errNoSpace = errors.New("etcdserver: mvcc: database space exceeded")
	errCorrupt = errors.New("etcdserver: corrupt cluster")
	errFuture  = errors.New("etcdserver: mvcc: required revision is a future revision")
)
