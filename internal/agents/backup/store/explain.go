// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// explain converts an error of a client library to one line of text and a reason code. key is set if the call concerned
// a single object.
func (b *bucket) explain(err error, doing, key string) error {
	if err == nil {
		return nil
	}
	code, status := codeOf(err)
	at := b.provider + " bucket " + b.name
	if b.server != "" {
		at += " at " + b.server
	}
	short := b.mask.apply(shortest(err, code))
	switch reason := reasonOf(err, code, status, doing); reason {
	case backup.ReasonBucketMissing:
		return backup.Fail(reason, "the %s does not exist (%s)", at, short)
	case backup.ReasonObjectMissing:
		return backup.Fail(reason, "the object %q does not exist in the %s", key, at)
	case backup.ReasonAccessDenied:
		return backup.Fail(reason, "the %s refuses to %s (%s); check the Secret and its permissions", at, doing, short)
	case backup.ReasonStoreUnreachable:
		return backup.Fail(reason, "the server of the %s cannot be reached: %s", at, short)
	case backup.ReasonDiskFull:
		return backup.Fail(reason, "the %s is full (%s)", at, short)
	default:
		return &backup.Error{Reason: reason, Err: &explained{"cannot " + doing + " in the " + at + ": " + short, err}}
	}
}

// explained is an error with a shorter text. It still wraps the original error, so that errors.Is finds a timeout in
// it.
type explained struct {
	text  string
	cause error
}

func (t *explained) Error() string { return t.text }
func (t *explained) Is(target error) bool {
	return (target == context.Canceled || target == context.DeadlineExceeded) && errors.Is(t.cause, target)
}

// codeOf returns the error code and the HTTP status of a response; "" and 0 if there is none.
func codeOf(err error) (code string, status int) {
	if google, ok := errors.AsType[*googleapi.Error](err); ok {
		code, status = "", google.Code
		if len(google.Errors) > 0 {
			code = google.Errors[0].Reason
		}
	}
	if azure, ok := errors.AsType[*azcore.ResponseError](err); ok {
		code, status = azure.ErrorCode, azure.StatusCode
	}
	if answer, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		status = answer.HTTPStatusCode()
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		code = api.ErrorCode()
	}
	if token, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		code, status = token.ErrorCode, http.StatusUnauthorized
	}
	return code, status
}

func reasonOf(err error, code string, status int, doing string) backup.Reason {
	denied := []string{
		"AccessDenied", "Forbidden", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "AccountProblem",
		"AllAccessDisabled", "AuthenticationFailed", "AuthorizationFailure", "InvalidAuthenticationInfo",
	}
	full := []string{"XMinioStorageFull", "QuotaExceeded", "InsufficientCapacity", "AccountQuotaExceeded"}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded) && !unreachable(err):
		return backup.ReasonStoreFailed // the caller that ended the context knows the reason
	case code == "NoSuchBucket", code == "ContainerNotFound", errors.Is(err, storage.ErrBucketNotExist):
		return backup.ReasonBucketMissing
	case slices.Contains(full, code), status == http.StatusInsufficientStorage, errors.Is(err, syscall.ENOSPC):
		return backup.ReasonDiskFull
	case slices.Contains(denied, code), status == http.StatusUnauthorized, status == http.StatusForbidden:
		return backup.ReasonAccessDenied
	case status == http.StatusNotFound && !strings.Contains(doing, "object"), status == http.StatusNotFound && strings.HasPrefix(doing, "write"):
		return backup.ReasonBucketMissing // this call needs no existing object, so only the bucket can be missing
	case status == http.StatusNotFound, errors.Is(err, storage.ErrObjectNotExist):
		return backup.ReasonObjectMissing
	case status == 0 && unreachable(err):
		return backup.ReasonStoreUnreachable
	}
	return backup.ReasonStoreFailed
}

// unreachable reports whether the connection to a server could not be established.
func unreachable(err error) bool {
	// A connection that breaks later does not count as unreachable, because it did reach the server.
	if on, ok := errors.AsType[*net.OpError](err); ok && on.Op == "dial" {
		return true
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	_, ok := errors.AsType[x509.UnknownAuthorityError](err)
	return ok
}

// shortest returns the error code that a store reported. If there is none, it returns the innermost error, because the
// libraries wrap each error in a long text.
func shortest(err error, code string) string {
	if code != "" {
		if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorMessage() != "" && api.ErrorMessage() != code {
			return code + ": " + firstLine(api.ErrorMessage())
		}
		return code
	}
	for {
		if op, ok := err.(*net.OpError); ok { //nolint:errorlint // this loop walks the chain
			return op.Error()
		}
		next := errors.Unwrap(err)
		if many, ok := err.(interface{ Unwrap() []error }); ok && len(many.Unwrap()) > 0 {
			next = many.Unwrap()[0]
		}
		if next == nil {
			return firstLine(err.Error())
		}
		err = next
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}
