// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package authproxy times the auth proxy of opcrew-helper beside a plain
// httputil.ReverseProxy without a check of passwords, on the same application, by the
// same clients, in turns of the same run. The application and both proxies are
// processes of their own, so that memory and CPU are theirs alone.
//
// That no request fails is asserted; times are printed.
//
//	go test -tags bench -count 1 -v ./test/bench/authproxy
package authproxy
