// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdclient is a user of an etcd cluster that never pauses, and then checks what it saw. It puts, gets, swaps
// and watches through the members that respond, and records every response. Afterwards it reports what etcd must never
// do: lose an acknowledged write, return an outdated value, deliver an event to a watch twice, late or never, or
// continue with a second history.
//
// A request without a response may or may not have been carried out. The check accepts both, so it reports no false
// violations. A client that gets no responses finds no violations either; the numbers in the report show how much was
// requested.
package etcdclient
