// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// contactTime is how long the API server may take to answer when the agent measures its contacts.
const contactTime = 3 * time.Second

// Reaches reports whether the API server answers on a new connection. A firewall may keep existing connections alive
// that it would refuse today. An answer that refuses the credentials is one, too: the network works. The server's own
// errors are none, because a load balancer answers so while no API server does.
func (c *Client) Reaches(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, contactTime)
	defer cancel()
	request, err := c.nodeRequest(ctx)
	if err != nil {
		return false
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(c.server.CA))
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode < http.StatusInternalServerError
}

// nodeRequest requests the metadata of the Node from the cache of the API server.
func (c *Client) nodeRequest(ctx context.Context) (*http.Request, error) {
	address, err := url.JoinPath(c.server.URL, "/api/v1/nodes", c.server.Node)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"?resourceVersion=0", http.NoBody)
	if err != nil {
		return nil, err
	}
	token, _ := os.ReadFile(c.token) // without a token, the API server answers too
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	request.Header.Set("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
	return request, nil
}
