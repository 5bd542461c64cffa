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
	// defaultRegion is where AWS itself looks for a bucket of which nothing is known; other
	// servers mostly take any.
	defaultRegion = "us-east-1"
	// defaultOSS is the endpoint that the CoreOS operator has.
	defaultOSS = "http://oss-cn-hangzhou.aliyuncs.com"
	// connectTime is for one attempt, so that a server that is not there is told from before the
	// order's time is over.
	connectTime = 5 * time.Second
)

// openS3 has the profile default of AWS' own files. Without a Secret, AWS finds the role of
// the pod or the machine.
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
		// What cannot be parsed is quoted in the error, and may be the secret itself.
		return nil, backup.Fail(backup.ReasonSecretInvalid, "credentials and config of the storage's Secret are not files of AWS with a profile default")
	}
	if from != "" && cfg.Credentials != nil {
		if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
			return nil, noKeys(err)
		}
	}
	return openS3With(ctx, cfg, &bucket{provider: "S3", name: name, server: url(t.Endpoint), mask: hidden}, t.ForcePathStyle)
}

// awsFiles names the files of the Secret, and keeps any other from being looked for. What is
// named must exist.
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

// noKeys tells a Secret without keys from one with a role that AWS does not give.
func noKeys(err error) error {
	code, _ := codeOf(err)
	switch {
	case code != "":
		return backup.Fail(backup.ReasonAccessDenied, "AWS does not give the role in the storage's Secret (%s)", code)
	case unreachable(err):
		return backup.Fail(backup.ReasonStoreUnreachable, "AWS cannot be asked for the role in the storage's Secret: %s", shortest(err, ""))
	}
	return backup.Fail(backup.ReasonSecretInvalid, "the credentials in the storage's Secret have no keys in the profile default")
}

// openOSS is Alibaba's S3 face. It takes the bucket's name in the host only, and a region that
// is in the host already.
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
		return nil, backup.Fail(backup.ReasonStoreFailed, "set up the client of OSS: %w", err)
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
		// The checksums that the SDK adds by itself are AWS' own; others refuse them. What was
		// written is checked by its hash in any case.
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

// url completes an endpoint as AWS' tools do.
func url(endpoint string) string {
	if endpoint == "" || strings.Contains(endpoint, "://") {
		return endpoint
	}
	return "https://" + endpoint
}
