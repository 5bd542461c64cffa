// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package authproxy runs in front of an application in its pod. It lets a request through only with a user and a
// password from mounted Secrets.
//
// A request passes the gate (gate.go), which has the checker (checker.go) verify the password against the current
// credentials (store.go, credentials.go). Then the forwarder (forward.go) passes the user's name to the application.
// proxy.go binds the ports, and shuts down without losing a request; health.go answers probes and metrics.
//
// TLS, sessions and schemes other than Basic belong to the gateway. The operator creates and changes credentials.
package authproxy
