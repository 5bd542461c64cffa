// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/workload"
)

// vendorRepository is the repository of the default image of the Redis Enterprise operator.
const vendorRepository = "redislabs/redis"

// Image is the image of the servers.
type Image struct {
	Reference string
	Policy    corev1.PullPolicy
	// IsDefault is true if it is the operator's default image.
	IsDefault bool
	// Replaced says that opcrew runs this image instead of the vendor's image that the spec names; "" if the spec names
	// no image of the vendor.
	Replaced string
}

// imageOf returns the image of the servers. If the spec names the vendor's image, imageOf returns the default image,
// because the vendor's image has no plain Redis server.
func imageOf(spec *redisv1alpha1.RedisEnterpriseClusterSpec, standard string) (Image, error) {
	asked := spec.RedisEnterpriseImageSpec
	if asked == nil {
		return Image{Reference: standard, Policy: corev1.PullIfNotPresent, IsDefault: true}, nil
	}
	out := Image{Policy: cmp.Or(asked.ImagePullPolicy, corev1.PullIfNotPresent)}
	repository := cmp.Or(asked.Repository, vendorRepository)
	out.Reference = referenceOf(repository, asked)
	if !isVendors(repository) {
		return out, checkImage(out.Reference)
	}
	if asked.Repository+asked.VersionTag+asked.DigestHash != "" {
		out.Replaced = fmt.Sprintf("%s is the vendor's image, which has no Redis cluster server; opcrew runs %s instead. "+
			"To choose another image, name an image of Redis or Valkey in redisEnterpriseImageSpec", out.Reference, standard)
	}
	out.Reference, out.IsDefault = standard, true
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

// isVendors reports whether a repository is the vendor's, such as redislabs/redis, in any registry.
func isVendors(repository string) bool {
	parts := strings.Split(repository, "/")
	if len(parts) < 2 {
		return false
	}
	owner, name := parts[len(parts)-2], parts[len(parts)-1]
	return owner == "redislabs" && (name == "redis" || strings.HasPrefix(name, "redis-enterprise"))
}

// oldestMajor is the oldest supported major version: Redis 7.0 and Valkey 7.2 are the oldest supported releases.
const oldestMajor = 7

// checkVersion refuses a version older than the version that wrote the data, because older servers cannot read newer
// files and would crash. It ignores tags that are not version numbers, or are lower than any supported version.
func checkVersion(c *redisv1alpha1.RedisEnterpriseCluster) error {
	asked := c.Spec.RedisEnterpriseImageSpec
	if asked == nil || asked.DigestHash != "" {
		return nil
	}
	runs, number, isValkey := "redis", c.Status.Version, false
	if number, isValkey = strings.CutPrefix(number, "valkey "); isValkey {
		runs = "valkey"
	}
	wanted, has := release(asked.VersionTag), release(number)
	if !strings.HasSuffix(asked.Repository, runs) || wanted == nil || has == nil || wanted[0] < oldestMajor || slices.Compare(wanted, has) >= 0 {
		return nil
	}
	return fmt.Errorf("redisEnterpriseImageSpec.versionTag: %s is older than %s %s, which wrote the data, and an older version cannot read that data; "+
		"set %d.%d or later, or create another cluster and move the data", asked.VersionTag, runs, number, has[0], has[1])
}

// release returns the first two numbers of a version, such as [9 1] for 9.1.2-alpine; nil if the text has none.
func release(version string) []int {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return nil
	}
	minor, _, _ := strings.Cut(parts[1], "-")
	out := make([]int, 2)
	for i, part := range []string{parts[0], minor} {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		out[i] = n
	}
	return out
}

func checkImage(reference string) error {
	if why := workload.InvalidImage(reference); why != "" {
		return fmt.Errorf("redisEnterpriseImageSpec: %s", why)
	}
	return nil
}
