// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package revisions numbers the revisions of a MicroServiceDeploy, reads them from pod templates, and chooses the
// revision to run. A revision is an image together with a configuration.
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

// RevisionAnnotation holds the number of a revision in a pod template. The revision numbers of Kubernetes are not
// suitable, because a ReplicaSet that is used again gets a new number.
const RevisionAnnotation = "opcrew.io/revision"

// RevisionHashAnnotation holds, in a pod template, a hash of its revision. If another client changed the revision
// number, image or configuration in the template, the hash does not match, and opcrew does not use the template as a
// revision.
const RevisionHashAnnotation = "opcrew.io/revision-hash"

// MostKept is the number of old ReplicaSets that a Deployment keeps.
const MostKept = 10

// List returns the revisions to which a user can roll back, newest first: those in the templates of the Deployment and
// of its ReplicaSets.
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

// Of reads the revision in a template. ok is false if the template has no revision or was changed by another client.
func Of(template corev1.PodTemplateSpec) (r customv1.Revision, ok bool) {
	number, err := strconv.ParseInt(template.Annotations[RevisionAnnotation], 10, 64)
	r = customv1.Revision{Revision: number, Image: MainImage(template), Config: ConfigName(template)}
	return r, err == nil && template.Annotations[RevisionHashAnnotation] == HashOf(r)
}

// HashOf returns a hash of the content of a revision.
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

// ConfigName returns the name of the ConfigMap or Secret that a template mounts as its configuration.
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

// Choose returns the revision to run. If spec.rollbackTo is set, this is the stored revision with that number; ok is
// false if it is not stored. If spec.rollbackTo is not set, it is the image and configuration of the spec, with the
// number of an equal stored revision or a new number.
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
