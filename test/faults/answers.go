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

// refusal is an error response that the API server could send for a write.
type refusal struct {
	class   string
	code    int
	reason  metav1.StatusReason
	message string
	retry   string // value of the header Retry-After
	// reported is set if the operator must report the message in a condition of the object.
	reported bool
}

// refusals are the errors with which the API server may refuse a write. Their messages are those of a real server, so
// that the operator recognizes them.
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

// answer returns an error response that the operator receives instead of the API server's response.
func answer(req *http.Request, code int, reason metav1.StatusReason, message string) *http.Response {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	}
	body, err := json.Marshal(status)
	if err != nil { // a struct of strings can always be encoded
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

// errLost is the error that a client gets if its connection breaks before the response arrives.
var errLost = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ETIMEDOUT}
