// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package authproxy stands in front of an application inside of its pod and lets a
// request through only with a user and a password out of mounted Secrets.
//
// A request passes the gate (gate.go), which asks the checker (checker.go) whether
// the credentials in force (store.go, credentials.go, htpasswd.go) hold its password,
// and then the forwarder (forward.go), which tells the application who it is. proxy.go
// binds the ports and ends without a lost request; health.go answers probes and metrics.
//
// What does not live here: TLS, sessions and other schemes than Basic, which belong to
// the gateway; and the making and changing of credentials, which belong to the operator.
package authproxy
