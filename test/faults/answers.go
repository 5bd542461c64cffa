// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"syscall"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// refusal is an error that the server could return.
type refusal struct {
	class   string
	code    int
	reason  metav1.StatusReason
	message string
	retry   string // the header Retry-After
	// reported is set if the message must appear in a condition of the object.
	reported bool
}

// refusals are the errors that a write can get. The messages are the real server's, so that the operator recognises
// them.
var refusals = []refusal{
	{class: "forbidden", code: http.StatusForbidden, reason: metav1.StatusReasonForbidden, reported: true,
		message: `"it" is forbidden: User "opcrew" cannot do this at the cluster scope`},
	{class: "throttled", code: http.StatusTooManyRequests, reason: metav1.StatusReasonTooManyRequests, retry: "1",
		message: "Too many requests, please try again later."},
	{class: "error", code: http.StatusInternalServerError, reason: metav1.StatusReasonInternalError,
		message: "Internal error occurred: etcdserver: leader changed"},
	{class: "denied", code: http.StatusForbidden, reason: metav1.StatusReasonForbidden, reported: true,
		message: `admission webhook "rules.example.com" denied the request: not on a Friday`},
	{class: "quota", code: http.StatusForbidden, reason: metav1.StatusReasonForbidden, reported: true,
		message: `"it" is forbidden: exceeded quota: small, requested: count/it=1, used: count/it=3, limited: count/it=3`},
}

// answer returns a Status that replaces the server's own response.
func answer(req *http.Request, code int, reason metav1.StatusReason, message string) *http.Response {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	}
	body, err := json.Marshal(status)
	if err != nil { // a struct of strings always encodes
		panic(err)
	}
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Request: req,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}},
		Body:   io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
}

func (r refusal) answer() *http.Response {
	resp := answer(nil, r.code, r.reason, r.message)
	if r.retry != "" {
		resp.Header.Set("Retry-After", r.retry)
	}
	return resp
}

// errLost is the error of a client whose connection breaks before the response.
var errLost = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ETIMEDOUT}
