// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdclient is a user of an etcd cluster that never pauses, and the judge of what
// it saw. It puts, gets, compares and swaps, and watches through whichever members answer,
// writes down every answer, and tells afterwards what no etcd may do: forget a write that
// it acknowledged, show an old value, tell a watch an event twice, late or never, or go on
// with a second history.
//
// A request whose answer never came may or may not have been done; both are taken for
// right. So nothing is found that is not there, and a client that is answered nothing at all
// finds nothing: the numbers of the report say how much was asked.
package etcdclient
