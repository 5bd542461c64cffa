// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"gocloud.dev/blob/azureblob"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// retryDelay is the delay before the first retry. The default of the Azure library is four seconds.
const retryDelay = time.Second

// absDomain returns the blob domain of an Azure cloud. The names of the clouds are those of the CoreOS operator.
func absDomain(cloud string) (string, error) {
	domain := map[string]string{
		"":                       "core.windows.net",
		"AzurePublicCloud":       "core.windows.net",
		"AzureChinaCloud":        "core.chinacloudapi.cn",
		"AzureUSGovernmentCloud": "core.usgovcloudapi.net",
		"AzureGermanCloud":       "core.cloudapi.de",
	}[cloud]
	if domain == "" {
		return "", backup.Fail(backup.ReasonSecretInvalid, "the key cloud of the storage Secret does not name a known Azure cloud")
	}
	return "blob." + domain, nil
}

func openABS(ctx context.Context, t backup.Target, name string) (*bucket, error) {
	from := secret(t.SecretDir)
	account, err := from.value("storage-account")
	if err != nil {
		return nil, err
	}
	key, err := from.value("storage-key")
	if err != nil {
		return nil, err
	}
	b := &bucket{provider: "ABS", name: name, server: url(t.Endpoint), mask: mask{key}}
	at, err := absURL(from, account, b.server)
	if err != nil {
		return nil, err
	}
	shared, err := container.NewSharedKeyCredential(account, key)
	if err != nil {
		return nil, backup.Fail(backup.ReasonSecretInvalid, "the key storage-key of the storage Secret is not a valid Azure key")
	}
	client, err := container.NewClientWithSharedKeyCredential(at+"/"+name, shared, &container.ClientOptions{ClientOptions: azcore.ClientOptions{
		Transport: &http.Client{Transport: transport()},
		Retry:     policy.RetryOptions{MaxRetries: tries - 1, RetryDelay: retryDelay},
	}})
	if err == nil {
		b.Bucket, err = azureblob.OpenBucket(ctx, client, nil)
	}
	if err != nil {
		return nil, backup.Fail(backup.ReasonStoreFailed, "open the container %q: %s", name, b.mask.apply(err.Error()))
	}
	return b, nil
}

// absURL returns the URL of a storage account. Servers other than Azure's own expect the account in the path.
func absURL(from secret, account, server string) (string, error) {
	if server != "" {
		return server + "/" + account, nil
	}
	cloud := ""
	if from.has("cloud") {
		var err error
		if cloud, err = from.value("cloud"); err != nil {
			return "", err
		}
	}
	domain, err := absDomain(cloud)
	return fmt.Sprintf("https://%s.%s", account, domain), err
}
