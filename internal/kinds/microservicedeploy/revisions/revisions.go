// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package revisions numbers the pairs of image and configuration of an instance, reads them from pod templates, and
// chooses the pair to run.
package revisions

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/workload"
)

// RevisionAnnotation holds, in pod templates, the number of a pair of image and configuration. Kubernetes' own revision
// numbers are not suitable, as a ReplicaSet that is reused gets a new number.
const RevisionAnnotation = "opcrew.io/revision"

// RevisionHashAnnotation marks a template that opcrew made. Another template may have been changed by a user, and its
// image must not count as the revision's.
const RevisionHashAnnotation = "opcrew.io/revision-hash"

// MostKept is how many old ReplicaSets a Deployment keeps.
const MostKept = 10

// List returns the revisions that a rollback can name, newest first: those in the templates of the Deployment and of
// its ReplicaSets.
func List(r workload.Rollout) []customv1.Revision {
	seen := map[int64]customv1.Revision{}
	if r.Deployment != nil {
		note(seen, r.Deployment.Spec.Template)
	}
	for _, set := range r.Sets {
		note(seen, set.Spec.Template)
	}
	out := make([]customv1.Revision, 0, len(seen))
	for _, revision := range seen {
		out = append(out, revision)
	}
	slices.SortFunc(out, func(a, b customv1.Revision) int { return cmp.Compare(b.Revision, a.Revision) })
	return out
}

func note(seen map[int64]customv1.Revision, template corev1.PodTemplateSpec) {
	r, ok := Of(template)
	if _, there := seen[r.Revision]; ok && !there {
		seen[r.Revision] = r
	}
}

// Of reads the revision in a template; ok is false if there is none, or the template is not as opcrew made it.
func Of(template corev1.PodTemplateSpec) (r customv1.Revision, ok bool) {
	number, err := strconv.ParseInt(template.Annotations[RevisionAnnotation], 10, 64)
	r = customv1.Revision{Revision: number, Image: MainImage(template), Config: ConfigName(template)}
	return r, err == nil && template.Annotations[RevisionHashAnnotation] == HashOf(r)
}

// HashOf returns a hash that identifies the content of a revision.
func HashOf(r customv1.Revision) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %q %q", r.Revision, r.Image, r.Config))
	return hex.EncodeToString(sum[:8])
}

// MainImage returns the image of the application in a pod template.
func MainImage(template corev1.PodTemplateSpec) string {
	for _, c := range template.Spec.Containers {
		if c.Name == names.MainContainer {
			return c.Image
		}
	}
	return ""
}

// ConfigName returns the name of the object that a template mounts as its configuration.
func ConfigName(template corev1.PodTemplateSpec) string {
	for _, v := range template.Spec.Volumes {
		if v.Name == "config" && v.Secret != nil {
			return v.Secret.SecretName
		}
		if v.Name == "config" && v.ConfigMap != nil {
			return v.ConfigMap.Name
		}
	}
	return ""
}

// Choose returns the revision to run: the one that spec.rollbackTo names, or else the spec's. The latter gets the
// number of a template with the same image and configuration, or a new number. ok is false if the named revision is not
// kept.
func Choose(m *customv1.MicroServiceDeploy, known []customv1.Revision, configName string) (wanted customv1.Revision, ok bool) {
	if to := m.Spec.RollbackTo; to != nil {
		i := slices.IndexFunc(known, func(r customv1.Revision) bool { return r.Revision == *to })
		if i < 0 {
			return customv1.Revision{}, false
		}
		return known[i], true
	}
	wanted = customv1.Revision{Image: m.Spec.Image, Config: configName, Revision: 1}
	for _, r := range known {
		if r.Image == wanted.Image && r.Config == wanted.Config {
			return r, true
		}
		wanted.Revision = max(wanted.Revision, r.Revision+1)
	}
	return wanted, true
}
