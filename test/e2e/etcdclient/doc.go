// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdclient is a user of an etcd cluster that never pauses, and the judge of what
// it saw. It puts, gets, compares and swaps, and watches through whichever members answer,
// records every answer, and afterwards reports what no etcd may do: forget a write that
// it acknowledged, show an old value, tell a watch an event twice, late or never, or go on
// with a second history.
//
// A request without a response may or may not have been carried out; the check accepts both.
// So it reports no false violations. A client without any responses finds nothing: the numbers
// in the report show how much was requested.
package etcdclient
