// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdclient is a client that sends requests to an etcd cluster without pauses, and then checks the responses.
// It puts, gets, swaps and watches keys through any member that responds, and records every response. Afterwards it
// reports violations of etcd's guarantees: a lost acknowledged write, an outdated value, an event that a watch received
// twice, late or never, or a second history of the data.
//
// A request without a response may or may not have been executed. The check accepts both cases, so it reports no false
// violations. A client that gets no responses finds no violations either. Therefore the report contains the number of
// requests.
package etcdclient
