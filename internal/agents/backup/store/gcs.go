// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"slices"

	"cloud.google.com/go/storage"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/option"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

const gcsScope = "https://www.googleapis.com/auth/devstorage.read_write"

// openGCS opens a bucket of Google Cloud Storage. It uses an access token or a credentials file from the Secret.
// Without a Secret it uses the default of Google's libraries: the service account of the pod or the machine.
func openGCS(ctx context.Context, t backup.Target, name string) (*bucket, error) {
	tokens, hidden, err := gcsTokens(ctx, secret(t.SecretDir))
	if err != nil {
		return nil, err
	}
	client, err := gcp.NewHTTPClient(transport(), tokens)
	if err != nil {
		return nil, backup.Fail(backup.ReasonSecretInvalid, "no Google credentials were found: %w", err)
	}
	b := &bucket{provider: "GCS", name: name, server: url(t.Endpoint), mask: hidden}
	var options gcsblob.Options
	if b.server != "" {
		options.ClientOptions = append(options.ClientOptions, option.WithEndpoint(b.server+"/storage/v1/"))
	}
	if b.Bucket, err = gcsblob.OpenBucket(ctx, client, name, &options); err != nil {
		return nil, backup.Fail(backup.ReasonStoreFailed, "open the bucket %q: %s", name, hidden.apply(err.Error()))
	}
	var service *storage.Client
	if b.Bucket.As(&service) {
		// Without this setting, the library would retry without a limit.
		service.SetRetry(storage.WithMaxAttempts(tries))
	}
	return b, nil
}

func gcsTokens(ctx context.Context, from secret) (gcp.TokenSource, mask, error) {
	switch {
	case from.has("access-token"):
		token, err := from.value("access-token")
		return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token}), mask{token}, err
	case from.has("credentials.json"):
		return gcsFile(ctx, from)
	case from != "":
		return nil, nil, backup.Fail(backup.ReasonSecretInvalid, "the storage Secret has neither the key access-token nor the key credentials.json")
	}
	found, err := google.FindDefaultCredentials(ctx, gcsScope)
	if err != nil {
		return nil, nil, backup.Fail(backup.ReasonSecretInvalid, "no storage Secret is set, and this pod has no Google credentials of its own: %w", err)
	}
	return found.TokenSource, nil, nil
}

func gcsFile(ctx context.Context, from secret) (gcp.TokenSource, mask, error) {
	text, err := from.value("credentials.json")
	if err != nil {
		return nil, nil, err
	}
	var file struct {
		Type         google.CredentialsType `json:"type"`
		PrivateKey   string                 `json:"private_key"`
		ClientSecret string                 `json:"client_secret"`
		RefreshToken string                 `json:"refresh_token"`
	}
	// Other types of credentials refer to files and URLs. The agent must not read these only because a Secret names
	// them.
	known := []google.CredentialsType{google.ServiceAccount, google.AuthorizedUser}
	if json.Unmarshal([]byte(text), &file) != nil || !slices.Contains(known, file.Type) {
		return nil, nil, backup.Fail(backup.ReasonSecretInvalid, "credentials.json in the storage Secret does not belong to a Google service account or user")
	}
	found, err := google.CredentialsFromJSONWithType(ctx, []byte(text), file.Type, gcsScope)
	if err != nil {
		return nil, nil, backup.Fail(backup.ReasonSecretInvalid, "credentials.json in the storage Secret is not valid")
	}
	return found.TokenSource, mask{file.PrivateKey, file.ClientSecret, file.RefreshToken}, nil
}

func transport() *http.Transport {
	out := http.DefaultTransport.(*http.Transport).Clone()
	out.DialContext = (&net.Dialer{Timeout: connectTime}).DialContext
	return out
}
