// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package authproxy compares the auth proxy of opcrew-agent with a plain httputil.ReverseProxy that checks no
// passwords. The same clients send requests to the same application through both proxies, in alternating rounds. The
// application and both proxies are separate processes, so that the test can measure their memory and CPU time.
//
// The test fails if a request fails. It only prints times.
//
//	go test -tags bench -count 1 -v ./test/bench/authproxy
package authproxy
