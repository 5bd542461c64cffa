// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package reading

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// maxBody limits the size of an answer of the API server: a hundred objects of usual size have less than 1 MiB.
	maxBody = 8 << 20
	// requestRate limits the requests per second, also if very many NodePools name different templates.
	requestRate = 10
	// patience limits the time of one reading.
	patience = 30 * time.Second
	// pageSize and maxPages limit the number of objects.
	pageSize = 100
	maxPages = 100
	// reuse is how long a list serves the targets of several NodePools.
	reuse = 30 * time.Second
)

// errTooMany is the error of a list with more objects than opcrew reads.
var errTooMany = fmt.Errorf("there are more than %d objects", pageSize*maxPages)

// errTooLarge is the error of an answer that is larger than maxBody.
var errTooLarge = errors.New("the answer of the API server is too large")

// limited refuses answers that are larger than maxBody, so that a hostile object does not fill the memory.
type limited struct{ http.RoundTripper }

func (l limited) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(request)
	if err == nil {
		response.Body = &limitedBody{response.Body, maxBody}
	}
	return response, err
}

// limitedBody fails when more than the remaining bytes are read.
type limitedBody struct {
	io.ReadCloser
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
