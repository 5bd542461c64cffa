// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"net"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob/s3blob"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

const (
	// defaultRegion is the default region of AWS. Most other S3 servers accept any region.
	defaultRegion = "us-east-1"
	// defaultOSS is the default endpoint of the CoreOS operator, with https instead of http.
	defaultOSS = "https://oss-cn-hangzhou.aliyuncs.com"
	// connectTime is the time limit for one connection attempt. It is short, so that the agent reports an unreachable
	// server before the whole task times out.
	connectTime = 5 * time.Second
)

// openS3 opens an S3 bucket with the profile default of the AWS files in the Secret. Without a Secret, the AWS library
// uses the role of the pod or the machine.
func openS3(ctx context.Context, t backup.Target, name string) (*bucket, error) {
	from := secret(t.SecretDir)
	var hidden mask
	options := awsOptions()
	if from != "" {
		text, err := from.value("credentials")
		if err != nil {
			return nil, err
		}
		hidden = iniValues(text)
		options = append(options, awsFiles(from)...)
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		// The original error is not included, because it may quote the content of the Secret.
		return nil, backup.Fail(backup.ReasonSecretInvalid, "credentials and config of the storage Secret are not AWS files with a profile default")
	}
	if from != "" && cfg.Credentials != nil {
		if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
			return nil, noKeys(err)
		}
	}
	return openS3With(ctx, cfg, &bucket{provider: "S3", name: name, server: url(t.Endpoint), mask: hidden}, t.ForcePathStyle)
}

// awsFiles names the credential files explicitly, so that the library does not search for other ones. It names only
// files that exist, because the library requires that.
func awsFiles(from secret) []func(*config.LoadOptions) error {
	files := map[string][]string{"credentials": {}, "config": {}}
	for key := range files {
		if from.has(key) {
			files[key] = []string{from.file(key)}
		}
	}
	return []func(*config.LoadOptions) error{
		config.WithSharedCredentialsFiles(files["credentials"]), config.WithSharedConfigFiles(files["config"]),
		config.WithSharedConfigProfile("default"),
	}
}

// noKeys distinguishes the error for a Secret without keys from the error for a Secret with a role that AWS refuses.
func noKeys(err error) error {
	code, _ := codeOf(err)
	switch {
	case code != "":
		return backup.Fail(backup.ReasonAccessDenied, "AWS refuses the role in the storage Secret (%s)", code)
	case unreachable(err):
		return backup.Fail(backup.ReasonStoreUnreachable, "AWS cannot be reached to assume the role in the storage Secret: %s", shortest(err, ""))
	}
	return backup.Fail(backup.ReasonSecretInvalid, "the credentials in the storage Secret have no keys in the profile default")
}

// openOSS opens a bucket of Alibaba OSS through its S3 interface. OSS accepts the bucket name only in the host name,
// which also contains the region.
func openOSS(ctx context.Context, t backup.Target, name string) (*bucket, error) {
	from := secret(t.SecretDir)
	id, err := from.value("accessKeyID")
	if err != nil {
		return nil, err
	}
	key, err := from.value("accessKeySecret")
	if err != nil {
		return nil, err
	}
	if t.Endpoint == "" {
		t.Endpoint = defaultOSS
	}
	cfg, err := config.LoadDefaultConfig(ctx, append(awsOptions(),
		config.WithSharedCredentialsFiles([]string{}), config.WithSharedConfigFiles([]string{}),
		config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(id, key, "")))...)
	if err != nil {
		return nil, backup.Fail(backup.ReasonStoreFailed, "create the OSS client: %w", err)
	}
	return openS3With(ctx, cfg, &bucket{provider: "OSS", name: name, server: url(t.Endpoint), mask: mask{key, id}}, t.ForcePathStyle)
}

func awsOptions() []func(*config.LoadOptions) error {
	client := awshttp.NewBuildableClient().WithDialerOptions(func(d *net.Dialer) { d.Timeout = connectTime })
	return []func(*config.LoadOptions) error{
		config.WithHTTPClient(client), config.WithRetryMaxAttempts(tries),
	}
}

func openS3With(ctx context.Context, cfg aws.Config, b *bucket, pathStyle bool) (*bucket, error) {
	if cfg.Region == "" {
		cfg.Region = defaultRegion
	}
	options := &s3blob.Options{}
	if b.server != "" {
		// S3 servers other than Amazon's refuse the checksums that the SDK adds by default. They are not needed,
		// because the agent checks the content by its own hash.
		cfg.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		cfg.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		options.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle = pathStyle
		if b.server != "" {
			o.BaseEndpoint = aws.String(b.server)
		}
	})
	var err error
	if b.Bucket, err = s3blob.OpenBucket(ctx, client, b.name, options); err != nil {
		return nil, backup.Fail(backup.ReasonStoreFailed, "open the bucket %q: %w", b.name, err)
	}
	return b, nil
}

// url completes an endpoint in the same way as the AWS tools.
func url(endpoint string) string {
	if endpoint == "" || strings.Contains(endpoint, "://") {
		return endpoint
	}
	return "https://" + endpoint
}
