// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/workload"
)

// revisionAnnotation numbers the pairs of image and configuration of an instance, in its
// pod templates. Kubernetes' own numbers do not serve: a ReplicaSet that is taken up again
// gets a new one.
const revisionAnnotation = "opcrew.io/revision"

// revisionHashAnnotation tells a template that we made from one that someone has changed:
// its image must not pass for that of the revision.
const revisionHashAnnotation = "opcrew.io/revision-hash"

// maxRevisions is how many ReplicaSets a Deployment keeps of old revisions.
const maxRevisions = 10

// revisions lists what a rollback can name: the templates of the Deployment and of its
// ReplicaSets, the newest first.
func revisions(r workload.Rollout) []customv1.Revision {
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
	r, ok := revisionOf(template)
	if _, there := seen[r.Revision]; ok && !there {
		seen[r.Revision] = r
	}
}

// revisionOf reads the revision of a template; ok is false if it is none, or not as it was made.
func revisionOf(template corev1.PodTemplateSpec) (r customv1.Revision, ok bool) {
	number, err := strconv.ParseInt(template.Annotations[revisionAnnotation], 10, 64)
	r = customv1.Revision{Revision: number, Image: mainImage(template), Config: configName(template)}
	return r, err == nil && template.Annotations[revisionHashAnnotation] == revisionHash(r)
}

func revisionHash(r customv1.Revision) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %q %q", r.Revision, r.Image, r.Config))
	return hex.EncodeToString(sum[:8])
}

func mainImage(template corev1.PodTemplateSpec) string {
	for _, c := range template.Spec.Containers {
		if c.Name == mainContainer {
			return c.Image
		}
	}
	return ""
}

// configName is the object that a template mounts as its configuration.
func configName(template corev1.PodTemplateSpec) string {
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

// running is the number of the revision that runs or is being rolled out; 0: there is none.
func (d decision) running(f facts) int64 {
	if d.held == nil {
		return d.revision.Revision
	}
	if f.rollout.Deployment == nil {
		return 0
	}
	r, ok := revisionOf(f.rollout.Deployment.Spec.Template)
	if !ok {
		return 0
	}
	return r.Revision
}

// rolledBack says that spec.rollbackTo has an earlier revision run, and what of the spec is not used as long as it does;
// "" where the spec itself runs.
func (d decision) rolledBack(m *customv1.MicroServiceDeploy, configName string) string {
	if m.Spec.RollbackTo == nil || d.held != nil {
		return ""
	}
	var unused []string
	if m.Spec.Image != d.revision.Image {
		unused = append(unused, "spec.image "+m.Spec.Image)
	}
	if configName != d.revision.Config {
		unused = append(unused, "the configuration of the spec")
	}
	if len(unused) == 0 {
		return ""
	}
	return fmt.Sprintf("spec.rollbackTo has revision %d run instead of %s: remove it to have the spec carried out", d.revision.Revision, strings.Join(unused, " and "))
}

// choose gives the revision that is to run: that of the spec, which gets the number of
// a template with the same image and configuration or a new one, or the one that
// spec.rollbackTo names. ok is false if that one is not kept.
func choose(m *customv1.MicroServiceDeploy, known []customv1.Revision, configName string) (wanted customv1.Revision, ok bool) {
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
