// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package authproxy compares the auth proxy of opcrew-agent with a plain httputil.ReverseProxy without passwords. The
// same application and clients are used in alternating rounds of one run. The application and both proxies are separate
// processes, so that their memory and CPU can be measured.
//
// The test fails if a request fails. Times are only printed.
//
//	go test -tags bench -count 1 -v ./test/bench/authproxy
package authproxy
