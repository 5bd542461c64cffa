// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"fmt"
	"strings"

	"github.com/opcrew/opcrew/api/common"
	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/auth"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/config"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/quota"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/tenant"
	"github.com/opcrew/opcrew/internal/workload"
)

// obstacle explains why the pods stay unchanged, as the reason and message of a condition.
type obstacle struct {
	reason, message string
	// quota is true if the obstacle is that the ResourceQuota of the namespace is not raised yet.
	quota bool
}

// holdInput holds everything that decides whether the pods stay unchanged.
type holdInput struct {
	// revision is the revision that should run. kept is true if the revision that spec.rollbackTo names is still
	// stored.
	revision customv1.Revision
	kept     bool
	known    []customv1.Revision
	// config is the configuration in the user's Secret. configLost is true if the object with the configuration of the
	// revision that should run no longer exists.
	config     *config.Config
	configLost bool
	// usable is true if the Secret with the credentials allows at least one user to log in. foreign is true if opcrew
	// does not manage this Secret.
	usable, foreign bool
	rollout         workload.Rollout
	tenant          quota.Tenant
	trouble         tenant.Trouble
}

// holds lists the functions that look for an obstacle, in the order in which opcrew calls them. opcrew reports only the
// first obstacle.
var holds = []func(*customv1.MicroServiceDeploy, holdInput) *obstacle{
	revisionMissing,
	imageInvalid,
	userConfigMissing,
	revisionConfigMissing,
	credentialsMissing,
	quotaRaising,
	quotaTooSmall,
}

// hold returns why the pods stay unchanged; nil if they follow the spec.
func hold(m *customv1.MicroServiceDeploy, in holdInput) *obstacle {
	for _, find := range holds {
		if found := find(m, in); found != nil {
			return found
		}
	}
	return nil
}

func revisionMissing(m *customv1.MicroServiceDeploy, in holdInput) *obstacle {
	if in.kept {
		return nil
	}
	return &obstacle{reason: customv1.ReasonRevisionMissing, message: fmt.Sprintf("spec.rollbackTo names revision %d, which is not stored; stored revisions: %s", *m.Spec.RollbackTo, numbers(in.known))}
}

func imageInvalid(_ *customv1.MicroServiceDeploy, in holdInput) *obstacle {
	if why := workload.InvalidImage(in.revision.Image); why != "" {
		return &obstacle{reason: common.ReasonInvalidImage, message: "spec.image: " + why}
	}
	return nil
}

func userConfigMissing(m *customv1.MicroServiceDeploy, in holdInput) *obstacle {
	if m.Spec.ConfigFrom == nil || in.config != nil || m.Spec.RollbackTo != nil {
		return nil
	}
	return &obstacle{reason: customv1.ReasonConfigMissing, message: fmt.Sprintf("spec.configFrom: Secret %s does not exist", m.Spec.ConfigFrom.SecretRef.Name)}
}

func revisionConfigMissing(_ *customv1.MicroServiceDeploy, in holdInput) *obstacle {
	if !in.configLost {
		return nil
	}
	return &obstacle{reason: customv1.ReasonConfigMissing, message: fmt.Sprintf("the configuration object %s of revision %d no longer exists; set spec.rollbackTo to another revision, or remove it", in.revision.Config, in.revision.Revision)}
}

// credentialsMissing delays changes of pods until credentials exist. A kubelet takes a minute or longer to add a Secret
// to pods that started without it.
func credentialsMissing(m *customv1.MicroServiceDeploy, in holdInput) *obstacle {
	switch {
	case !m.Spec.NeedAuth || in.usable:
		return nil
	case m.Spec.Auth != nil || in.foreign:
		return &obstacle{reason: customv1.ReasonNoCredentials, message: noCredentials(m, in.foreign) + ", so no user could log in"}
	}
	return awaited(in.trouble, common.ReasonApplying, "opcrew is creating the credentials that all instances of the namespace share")
}

// quotaRaising delays a rollout until opcrew has raised the ResourceQuota of the namespace. Without room for its surge
// pod, the rollout would stop halfway, and Kubernetes would retry only after many minutes.
func quotaRaising(m *customv1.MicroServiceDeploy, in holdInput) *obstacle {
	if !in.replacesPods(m) && !grows(m, in.rollout) || !in.tenant.Raising(m) {
		return nil
	}
	why := awaited(in.trouble, common.ReasonUpdating, "opcrew is raising the ResourceQuota of the namespace")
	why.quota = true
	return why
}

// quotaTooSmall delays a rollout that does not fit into a ResourceQuota of another owner.
func quotaTooSmall(m *customv1.MicroServiceDeploy, in holdInput) *obstacle {
	if in.rollout.Deployment == nil || !in.replacesPods(m) {
		return nil
	}
	if name, why := in.tenant.NoRoom(m); why != "" {
		return &obstacle{reason: customv1.ReasonQuotaTooSmall, message: fmt.Sprintf("The rollout does not fit into ResourceQuota %s: a new pod needs %s. The rollout starts when the quota has room", name, why)}
	}
	return nil
}

func (in holdInput) replacesPods(m *customv1.MicroServiceDeploy) bool {
	return quota.Replaces(m, in.rollout, configHash(in.config))
}

// grows reports whether the MicroServiceDeploy should get more pods. Only MicroServiceDeploys that grow must wait for
// the quota that they share.
func grows(m *customv1.MicroServiceDeploy, r workload.Rollout) bool {
	return !m.Spec.Idle && names.Replicas(m) > r.Replicas()
}

// noCredentials explains why the Secret with the credentials allows no login.
func noCredentials(m *customv1.MicroServiceDeploy, foreign bool) string {
	name := auth.Sources(m)[0].Secret
	if !foreign {
		return "Secret " + name + " does not exist"
	}
	return fmt.Sprintf("Secret %s, which opcrew does not manage, has no usable line user:hash (bcrypt or {SHA}) under the key %s", name, names.HtpasswdKey)
}

// awaited returns an obstacle that disappears without action by the user. If opcrew has trouble with the shared quota
// or credentials, the obstacle also reports that trouble.
func awaited(trouble tenant.Trouble, reason, message string) *obstacle {
	if trouble != (tenant.Trouble{}) {
		return &obstacle{reason: trouble.Reason, message: message + "; this is delayed: " + trouble.Message}
	}
	return &obstacle{reason: reason, message: message}
}

// configHash returns the hash of a user's Secret with the configuration; empty if the spec names no Secret.
func configHash(c *config.Config) string {
	if c == nil {
		return ""
	}
	return c.Hash
}

func numbers(known []customv1.Revision) string {
	var out []string
	for _, r := range known {
		out = append(out, fmt.Sprint(r.Revision))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}
