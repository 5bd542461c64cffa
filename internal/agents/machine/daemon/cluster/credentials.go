// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

const (
	// Directory holds the credentials, below the agent's directory.
	Directory = "credentials"
	// ServerFile says where the API server is.
	ServerFile = "server"
	// TokenFile has the token.
	TokenFile = "token"

	maxFile = 1 << 20
)

// Server is the content of ServerFile.
type Server struct {
	// URL is the address of the API server, such as https://10.0.0.1:6443.
	URL string `json:"url"`
	// CA has the certificates, in PEM format, of which one signed that of the API server.
	CA string `json:"ca"`
	// Node is the name of the Node.
	Node string `json:"node"`
}

// ParseServer parses the content of ServerFile.
func ParseServer(content []byte) (Server, error) {
	var s Server
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return s, fmt.Errorf("read the address of the API server: %w", err)
	}
	if !strings.HasPrefix(s.URL, "https://") || s.CA == "" || s.Node == "" {
		return s, errors.New("the address of the API server must begin with https://, and the certificates and the name of the Node must be set")
	}
	return s, nil
}

// Load reads the credentials in a directory.
func Load(dir string) (Server, error) {
	file, err := os.Open(filepath.Join(dir, ServerFile))
	if err != nil {
		return Server{}, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return Server{}, err
	}
	return ParseServer(content)
}

// config returns the settings of a client, which reads the token from its file again from time to time.
func (s Server) config(token string) *rest.Config {
	return &rest.Config{
		Host: s.URL, TLSClientConfig: rest.TLSClientConfig{CAData: []byte(s.CA)}, BearerTokenFile: token,
		UserAgent: "opcrew-machine", Timeout: 0, // the watch lasts; other calls have a timeout of their own
	}
}

// lifetime is when a token was issued, and when it expires.
type lifetime struct{ issued, expires time.Time }

// parseLifetime reads the claims of a token. Only the API server can verify them.
func parseLifetime(token string) (lifetime, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return lifetime{}, errors.New("the token is not a JSON Web Token")
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return lifetime{}, fmt.Errorf("read the token: %w", err)
	}
	var claims struct {
		Issued  int64 `json:"iat"`
		Expires int64 `json:"exp"`
	}
	if err := json.Unmarshal(text, &claims); err != nil {
		return lifetime{}, fmt.Errorf("read the token: %w", err)
	}
	if claims.Issued <= 0 || claims.Expires <= claims.Issued {
		return lifetime{}, errors.New("the token does not expire, or has expired before it was issued")
	}
	return lifetime{time.Unix(claims.Issued, 0), time.Unix(claims.Expires, 0)}, nil
}

// renewal is when the token is to be renewed: before 80 % of its lifetime.
func (l lifetime) renewal() time.Time { return l.issued.Add(l.expires.Sub(l.issued) * 3 / 4) }
