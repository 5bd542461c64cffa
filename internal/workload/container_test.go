// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"strings"
	"testing"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

func bare(name string) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().WithName(name)
}

func TestWhatIsAnImageAndWhatIsNone(t *testing.T) {
	const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for _, image := range []string{
		"nginx", "nginx:1.7.9", "library/nginx:1.26", "docker.io/library/nginx", "registry.example.com/team/app:v1",
		"localhost:5000/app", "registry.example.com:5000/team/app:v1", "10.0.0.1:5000/app:1", "nginx" + digest, "nginx:1.26" + digest,
		"nginx:Latest", "a/b/c/d/e:1", "app_name-with.dots:1",
	} {
		if why := InvalidImage(image); why != "" {
			t.Errorf("expected %q to be an image, got %s", image, why)
		}
	}
	for _, image := range []string{
		"just a image url", // a well-known tutorial has this text in place of an image
		"", " ", "Nginx", "registry.example.com/Team/app", "nginx:", "nginx:1 ", " nginx", "nginx@sha256:123", "nginx@", ":1", "/nginx",
		"nginx:tag:tag", "https://registry.example.com/app", "nginx:" + strings.Repeat("a", 129), "nginx;rm", "nginx\n",
		strings.Repeat("0123456789abcdef", 4), // an image ID is not an image name
	} {
		if why := InvalidImage(image); !strings.Contains(why, "is not a valid image") || !strings.Contains(why, "write an image such as") {
			t.Errorf("expected %q to be no image, and what to write instead, got %q", image, why)
		}
	}
}
