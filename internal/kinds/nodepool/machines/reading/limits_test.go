// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reading

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

type answer int

func (a answer) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{Body: io.NopCloser(strings.NewReader(strings.Repeat("a", int(a))))}, nil
}

func TestAnswersThatAreTooLargeAreNotRead(t *testing.T) {
	for size, want := range map[answer]error{0: nil, maxBody: nil, maxBody + 1: errTooLarge, 2 * maxBody: errTooLarge} {
		response, err := limited{size}.RoundTrip(nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if !errors.Is(err, want) || len(body) > maxBody {
			t.Errorf("%d bytes: expected the error %v, got %v after %d bytes", size, want, err, len(body))
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}
