// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/opcrew/opcrew/api/common"
	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

// Images are the operator's default images of the agent and of the Redis server.
type Images struct {
	Agent, Redis string
}

// Spec is the parsed spec of a cluster, with defaults filled in.
type Spec struct {
	AgentImage string
	Image      Image
	// ServerResources are the resources of each of the pod's two servers. VolumeSize is the size of the pod's volume.
	ServerResources corev1.ResourceRequirements
	VolumeSize      resource.Quantity
	SideContainers  []corev1.Container
	// Notes list amounts that contain spaces, and how opcrew read each of them.
	Notes []string
}

// Read parses the spec of a cluster. The error names every invalid field and what to write instead.
func Read(c *redisv1alpha1.RedisEnterpriseCluster, from Images) (Spec, error) {
	pod, notes, badResources := resources(&c.Spec)
	img, badImage := imageOf(&c.Spec, from.Redis)
	side, badSide := sideContainers(c.Spec.SideContainersSpec)
	out := Spec{
		AgentImage: from.Agent, Image: img, ServerResources: half(pod), VolumeSize: volumeSize(&c.Spec, pod), SideContainers: side, Notes: notes,
	}
	if p := c.Spec.PersistentSpec; p != nil {
		out.Notes = append(out.Notes, noteNormalized("persistentSpec.volumeSize", p.VolumeSize)...)
	}
	out.Notes = append(out.Notes, noteNormalized("slotMigrationRate", c.Spec.SlotMigrationRate)...)
	return out, errors.Join(badResources, badImage, badSide, checkVersion(c), checkHibernation(c), CheckUserSecret(c), checkSettings(c))
}

// checkHibernation refuses hibernation without volumes. The CRD cannot check this, because persistentSpec.enabled may
// be a string instead of a boolean.
func checkHibernation(c *redisv1alpha1.RedisEnterpriseCluster) error {
	if c.Spec.Hibernate && !Persistent(c) {
		return errors.New("hibernate: a cluster without volumes would lose all its data; create the cluster with persistentSpec: {enabled: true}")
	}
	return nil
}

// CheckUserSecret refuses the operator's own Secret as the users' Secret.
func CheckUserSecret(c *redisv1alpha1.RedisEnterpriseCluster) error {
	if UsesSystemSecret(c) {
		return fmt.Errorf("clusterCredentialSecretName: %s is the operator's own Secret; name another Secret, or remove this field to use Secret %s", SystemSecret(c), c.Name)
	}
	return nil
}

func checkSettings(c *redisv1alpha1.RedisEnterpriseCluster) error {
	const clients = "maxclients"
	if value := c.Spec.RedisConfig[clients]; locksOut(clients, value) {
		return fmt.Errorf("redisConfig: %s: %s is too low, because replicas, the agent and the operator are clients too; set %d or more", clients, value, minClients)
	}
	if own := Settings(c, Forbidden); len(own) > 0 {
		return fmt.Errorf("redisConfig: %s: only the operator may set this; remove it from redisConfig", strings.Join(SortedKeys(own), ", "))
	}
	return nil
}

// SideContainers returns the valid additional containers in the spec, even if other parts of the spec are invalid.
func SideContainers(c *redisv1alpha1.RedisEnterpriseCluster) []corev1.Container {
	var out []corev1.Container
	for _, text := range c.Spec.SideContainersSpec {
		var side corev1.Container
		if json.Unmarshal([]byte(text.JSON()), &side) == nil {
			out = append(out, side)
		}
	}
	return out
}

// maxImage is the maximum number of characters of an image. The CRDs set the same limit in their image fields. The
// limit saves memory, because each cached pod contains a copy of the image.
const maxImage = 512

// sideContainers parses the additional containers in the spec, which the CRD does not validate.
func sideContainers(asked []common.Container) ([]corev1.Container, error) {
	var out []corev1.Container
	for i, text := range asked {
		var side corev1.Container
		decoder := json.NewDecoder(strings.NewReader(text.JSON()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&side); err != nil {
			return nil, fmt.Errorf("sideContainersSpec[%d] is not a valid container: %w", i, err)
		}
		if slices.Contains([]string{"", HomeContainer, GuestContainer, AgentContainer}, side.Name) {
			return nil, fmt.Errorf("sideContainersSpec[%d].name: choose a name other than %s, %s and %s", i, HomeContainer, GuestContainer, AgentContainer)
		}
		if len(side.Image) > maxImage {
			return nil, fmt.Errorf("sideContainersSpec[%d].image has %d characters, but an image can have at most %d; use a shorter image", i, len(side.Image), maxImage)
		}
		out = append(out, side)
	}
	return out, nil
}
