// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package authproxy is a reverse proxy in front of an application, in the pod of the application. It forwards a request
// only if the request has a valid user and password. Mounted Secrets contain the users and the hashes of their
// passwords.
//
// The gate (gate.go) admits a request if the checker (checker.go) finds the password of the request in the current
// credentials (store.go, credentials.go). The forwarder (forward.go) sends the request to the application with the
// user's name. proxy.go binds the ports and shuts down without losing requests; health.go serves probes and metrics.
//
// TLS, sessions and authentication schemes other than Basic are left to a gateway in front of the pod. The operator
// creates and changes the credentials.
package authproxy
