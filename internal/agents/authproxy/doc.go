// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package authproxy sits in front of an application inside of its pod and lets a
// request through only with a user and a password out of mounted Secrets.
//
// A request passes the gate (gate.go), which asks the checker (checker.go) whether the
// credentials in force (store.go, credentials.go) have its password, and then the forwarder
// (forward.go), which names the user to the application. proxy.go binds the ports and ends
// without a lost request; health.go answers probes and metrics.
//
// TLS, sessions and schemes other than Basic belong to the gateway. Creating and changing
// credentials belongs to the operator.
package authproxy
