// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

func TestAnErrorOfABucketIsOneLine(t *testing.T) {
	write := func(t *testing.T, s Store) error { return s.Put(t.Context(), "dir/etcd", strings.NewReader("x")) }
	read := func(t *testing.T, s Store) error { _, _, err := s.Get(t.Context(), "dir/etcd"); return err }
	list := func(t *testing.T, s Store) error { _, err := s.List(t.Context(), "dir/"); return err }
	remove := func(t *testing.T, s Store) error { return s.Delete(t.Context(), "dir/etcd") }
	long := func(t *testing.T, s Store) error { return s.Put(t.Context(), "dir/etcd", strings.NewReader(parts)) }
	part := func(r *http.Request) bool { return r.URL.Query().Has("partNumber") }
	for name, test := range map[string]struct {
		bucket string
		door   func(http.ResponseWriter, *http.Request) bool
		do     func(*testing.T, Store) error
		reason backup.Reason
		words  string
	}{
		"write, no bucket":    {"none", nil, write, backup.ReasonBucketMissing, "S3 bucket none at http://127.0.0.1"},
		"parts, no bucket":    {"none", nil, long, backup.ReasonBucketMissing, "S3 bucket none"},
		"read, no bucket":     {"none", nil, read, backup.ReasonBucketMissing, "S3 bucket none"},
		"list, no bucket":     {"none", nil, list, backup.ReasonBucketMissing, "S3 bucket none"},
		"delete denied":       {"shop", refuse(403, "AccessDenied", everything), remove, backup.ReasonAccessDenied, "refuses to delete"},
		"read, no object":     {"shop", nil, read, backup.ReasonObjectMissing, "dir/etcd"},
		"denied":              {"shop", refuse(403, "AccessDenied", everything), write, backup.ReasonAccessDenied, "refuses to write the object (AccessDenied: It is so.); check the Secret"},
		"read denied":         {"shop", refuse(403, "SignatureDoesNotMatch", everything), read, backup.ReasonAccessDenied, "SignatureDoesNotMatch"},
		"list denied":         {"shop", refuse(403, "InvalidAccessKeyId", everything), list, backup.ReasonAccessDenied, "refuses to list"},
		"full":                {"shop", refuse(507, "XMinioStorageFull", everything), write, backup.ReasonDiskFull, "is full"},
		"ends in the middle":  {"shop", refuse(400, "BadDigest", part), long, backup.ReasonStoreFailed, "cannot write the object in the S3 bucket shop"},
		"hangs up":            {"shop", hangUp, write, backup.ReasonStoreFailed, "cannot write the object"},
		"says what is secret": {"shop", refuse(403, key, everything), write, backup.ReasonAccessDenied, "(***: It is so.)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t)
			s := open(t, server.target(t, test.bucket))
			server.through(test.door)
			expect(t, test.do(t, s), test.reason, test.words)
			server.through(nil)
			if test.bucket == "shop" {
				holds(t, s, "dir/etcd", "")
			}
		})
	}
}

func hangUp(w http.ResponseWriter, _ *http.Request) bool {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = connection.Close() // this breaks the connection on purpose
	}
	return true
}

func TestAnUnreachableServerIsNamed(t *testing.T) {
	for kind, secret := range map[backup.Type]string{
		backup.S3:  mountedAWS(t),
		backup.ABS: files(t, map[string]string{"storage-account": "acc", "storage-key": "c2VjcmV0"}),
		backup.GCS: files(t, map[string]string{"access-token": key + "\n"}),
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			if kind == backup.ABS && testing.Short() {
				t.Skip("Azure's library waits some seconds before it tries again")
			}
			s := open(t, backup.Target{Type: kind, Path: "shop/etcd", SecretDir: secret, Endpoint: "http://127.0.0.1:1", ForcePathStyle: true})
			_, err := s.List(t.Context(), "x")
			expect(t, err, backup.ReasonStoreUnreachable, string(kind)+" bucket shop at http://127.0.0.1:1", "connection refused")
		})
	}
}

// The errors in this test are taken from the documentation of the other cloud providers.
func TestTheErrorsOfOtherCloudsAreExplained(t *testing.T) {
	type answer struct {
		status       int
		header, body string
		reason       backup.Reason
	}
	for kind, answers := range map[backup.Type]map[string]answer{
		backup.ABS: {
			"no container": {404, "ContainerNotFound", "", backup.ReasonBucketMissing},
			"denied":       {403, "AuthenticationFailed", "", backup.ReasonAccessDenied},
			"not allowed":  {403, "AuthorizationPermissionMismatch", "", backup.ReasonAccessDenied},
		},
		backup.GCS: {
			"no bucket": {404, "", `{"error":{"code":404,"message":"The specified bucket does not exist.","errors":[{"reason":"notFound","message":"The specified bucket does not exist."}]}}`, backup.ReasonBucketMissing},
			"no token":  {401, "", `{"error":{"code":401,"message":"Invalid Credentials","errors":[{"reason":"authError"}]}}`, backup.ReasonAccessDenied},
			"denied":    {403, "", `{"error":{"code":403,"message":"x does not have storage.objects.create access","errors":[{"reason":"forbidden"}]}}`, backup.ReasonAccessDenied},
		},
	} {
		for name, a := range answers {
			t.Run(string(kind)+" "+name, func(t *testing.T) {
				t.Parallel()
				server := newServer(t)
				server.through(func(w http.ResponseWriter, _ *http.Request) bool {
					w.Header().Set("X-Ms-Error-Code", a.header)
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(a.status)
					_, _ = w.Write([]byte(a.body))
					return true
				})
				secret := map[string]string{"storage-account": "acc", "storage-key": "c2VjcmV0", "access-token": key}
				s := open(t, backup.Target{Type: kind, Path: "shop/etcd", SecretDir: files(t, secret), Endpoint: server.URL})
				expect(t, s.Put(t.Context(), "etcd", strings.NewReader("x")), a.reason, string(kind)+" bucket shop")
				_, err := s.List(t.Context(), "x")
				expect(t, err, a.reason, string(kind)+" bucket shop")
			})
		}
	}
}

func TestAnErrorOfAnInvalidSecretHasNoValues(t *testing.T) {
	for name, test := range map[string]struct {
		kind    backup.Type
		content map[string]string
		words   string
	}{
		"S3, no key":          {backup.S3, map[string]string{}, "no key credentials"},
		"S3, empty":           {backup.S3, map[string]string{"credentials": "\n"}, "is empty"},
		"S3, no profile":      {backup.S3, map[string]string{"credentials": "[other]\naws_access_key_id = " + key}, "profile default"},
		"S3, not a file":      {backup.S3, map[string]string{"credentials": key}, "profile default"},
		"S3, half of one":     {backup.S3, map[string]string{"credentials": "[default]\naws_secret_access_key = " + key}, "profile default"},
		"OSS, no key":         {backup.OSS, map[string]string{"accessKeyID": id}, "no key accessKeySecret"},
		"ABS, no key":         {backup.ABS, map[string]string{"storage-account": "acc"}, "no key storage-key"},
		"ABS, not a key":      {backup.ABS, map[string]string{"storage-account": "acc", "storage-key": key + "!"}, "storage-key"},
		"ABS, another cloud":  {backup.ABS, map[string]string{"storage-account": "acc", "storage-key": "c2VjcmV0", "cloud": "Moon"}, "cloud"},
		"GCS, no key":         {backup.GCS, map[string]string{}, "neither"},
		"GCS, not a file":     {backup.GCS, map[string]string{"credentials.json": key}, "credentials.json"},
		"GCS, another's file": {backup.GCS, map[string]string{"credentials.json": `{"type":"external_account","private_key":"` + key + `"}`}, "service account"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Open(t.Context(), backup.Target{Type: test.kind, Path: "shop/etcd", SecretDir: files(t, test.content)})
			expect(t, err, backup.ReasonSecretInvalid, test.words)
		})
	}
}

func TestOSSIsReachedThroughItsS3Interface(t *testing.T) {
	target := newServer(t).target(t, "shop")
	target.Type, target.SecretDir = backup.OSS, files(t, map[string]string{"accessKeyID": id, "accessKeySecret": key})
	s := open(t, target)
	must(t, s.Put(t.Context(), "etcd", strings.NewReader("x")))
	holds(t, s, "etcd", "x")
}

func TestCloudsOfAzureHaveTheirDomains(t *testing.T) {
	for cloud, want := range map[string]string{"": "https://acc.blob.core.windows.net", "AzureChinaCloud": "https://acc.blob.core.chinacloudapi.cn"} {
		content := map[string]string{}
		if cloud != "" {
			content["cloud"] = cloud
		}
		if got, err := absURL(secret(files(t, content)), "acc", ""); got != want || err != nil {
			t.Errorf("expected %s, got %s, %v", want, got, err)
		}
	}
}

func TestAMissingOrFullVolumeIsReported(t *testing.T) {
	gone := open(t, backup.Target{Type: backup.Folder, Path: "etcd", Dir: filepath.Join(t.TempDir(), "none")})
	expect(t, gone.Put(t.Context(), "etcd", strings.NewReader("x")), backup.ReasonBucketMissing, "check that its volume is mounted")
	_, _, err := gone.Get(t.Context(), "etcd")
	expect(t, err, backup.ReasonBucketMissing)
	_, err = gone.List(t.Context(), "etcd")
	expect(t, err, backup.ReasonBucketMissing)
	expect(t, gone.Delete(t.Context(), "etcd"), backup.ReasonBucketMissing)

	dir := t.TempDir()
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir).Run(); err != nil {
		t.Skip("needs to mount a small volume:", err)
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	full := open(t, backup.Target{Type: backup.Folder, Path: "etcd", Dir: dir})
	expect(t, full.Put(t.Context(), "etcd", strings.NewReader(parts)), backup.ReasonDiskFull, "no space left on device")
	if entries, err := os.ReadDir(dir); len(entries) > 0 || err != nil {
		t.Errorf("expected nothing to be left, got %v, %v", entries, err)
	}
}
