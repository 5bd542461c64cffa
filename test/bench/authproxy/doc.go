// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package authproxy compares the auth proxy of opcrew-agent with a plain
// httputil.ReverseProxy without passwords: the same application and clients, in turns of
// the same run. The application and both proxies are separate processes, so that their
// memory and CPU can be measured.
//
// That no request fails is asserted; times are printed.
//
//	go test -tags bench -count 1 -v ./test/bench/authproxy
package authproxy
