// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

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

// vendorRepository is what the vendor's operator takes where the spec names none.
const vendorRepository = "redislabs/redis"

// image is that of the servers.
type image struct {
	reference string
	policy    corev1.PullPolicy
	// standard reports that it is the operator's default.
	standard bool
	// replaced reports the vendor's image in its place; empty where the spec has none.
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

// isVendors reports whether a repository is the vendor's, in whichever registry it is.
func isVendors(repository string) bool {
	parts := strings.Split(repository, "/")
	if len(parts) < 2 {
		return false
	}
	owner, name := parts[len(parts)-2], parts[len(parts)-1]
	return owner == "redislabs" && (name == "redis" || strings.HasPrefix(name, "redis-enterprise"))
}

// oldestMajor is that of the first servers that can run: Redis 7.0 and Valkey 7.2.
const oldestMajor = 7

// badVersion refuses a version before that which has written the data: servers do not read what later ones have written,
// and the pods would crash one after another. A tag that is no number, or one below all that can run, tells no version of a
// server.
func badVersion(c *redisv1alpha1.RedisEnterpriseCluster) error {
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
	return fmt.Errorf("redisEnterpriseImageSpec.versionTag: %s is before %s %s, which has written the data, and servers do not read what later ones have written; "+
		"write %d.%d or later, or make another cluster and move the data", asked.VersionTag, runs, number, has[0], has[1])
}

// release is the first two numbers of a version, such as 9.1 of 9.1.2-alpine; nil if there are none.
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

func invalid(reference string) error {
	if why := workload.InvalidImage(reference); why != "" {
		return fmt.Errorf("redisEnterpriseImageSpec: %s", why)
	}
	return nil
}
