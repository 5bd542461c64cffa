// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/workload"
)

// vendorRepository is what the vendor's operator takes where the spec names none.
const vendorRepository = "redislabs/redis"

// image is that of the servers.
type image struct {
	reference string
	policy    corev1.PullPolicy
	// standard tells that it is the operator's default.
	standard bool
	// replaced tells of the vendor's image in its place; empty where the spec has none.
	replaced string
}

// imageOf reads the image of a spec. The vendor's has no server in it that could be started.
func imageOf(spec *redisv1alpha1.RedisEnterpriseClusterSpec, standard string) (image, error) {
	asked := spec.RedisEnterpriseImageSpec
	if asked == nil {
		return image{reference: standard, policy: corev1.PullIfNotPresent, standard: true}, nil
	}
	out := image{policy: cmp.Or(asked.ImagePullPolicy, corev1.PullIfNotPresent)}
	repository := cmp.Or(asked.Repository, vendorRepository)
	out.reference = referenceOf(repository, asked)
	if !isVendors(repository) {
		return out, invalid(out.reference)
	}
	if asked.Repository+asked.VersionTag+asked.DigestHash != "" {
		out.replaced = fmt.Sprintf("%s is the vendor's own and has no server of a Redis cluster in it; %s runs in its place. "+
			"Name an image of Redis or Valkey in redisEnterpriseImageSpec to choose another", out.reference, standard)
	}
	out.reference, out.standard = standard, true
	return out, nil
}

func referenceOf(repository string, asked *redisv1alpha1.ImageSpec) string {
	switch {
	case asked.DigestHash != "":
		return repository + "@sha256:" + strings.TrimPrefix(asked.DigestHash, "sha256:")
	case asked.VersionTag != "":
		return repository + ":" + asked.VersionTag
	}
	return repository
}

// isVendors tells whether a repository is the vendor's, in whichever registry it is.
func isVendors(repository string) bool {
	parts := strings.Split(repository, "/")
	if len(parts) < 2 {
		return false
	}
	owner, name := parts[len(parts)-2], parts[len(parts)-1]
	return owner == "redislabs" && (name == "redis" || strings.HasPrefix(name, "redis-enterprise"))
}

func invalid(reference string) error {
	if why := workload.InvalidImage(reference); why != "" {
		return fmt.Errorf("redisEnterpriseImageSpec: %s", why)
	}
	return nil
}
