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

// Images are the operator's default images.
type Images struct {
	Agent, Redis string
}

// Spec is a spec with defaults filled in and loosely typed values parsed.
type Spec struct {
	AgentImage string
	Image      Image
	// ServerResources are the resources of each of the two servers of a pod. VolumeSize is the size of the pod's claim.
	ServerResources corev1.ResourceRequirements
	VolumeSize      resource.Quantity
	SideContainers  []corev1.Container
	// Notes report amounts that contain spaces, and how each was read.
	Notes []string
}

// Read reads a spec. The error names everything that is invalid, and what to write instead.
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

// checkHibernation checks what the CRD cannot, as persistentSpec.enabled can be text.
func checkHibernation(c *redisv1alpha1.RedisEnterpriseCluster) error {
	if c.Spec.Hibernate && !Persistent(c) {
		return errors.New("hibernate: a cluster without volumes would lose all of its data; make one with persistentSpec: {enabled: true}")
	}
	return nil
}

// CheckUserSecret refuses the operator's own Secret as the users' Secret.
func CheckUserSecret(c *redisv1alpha1.RedisEnterpriseCluster) error {
	if UsesSystemSecret(c) {
		return fmt.Errorf("clusterCredentialSecretName: %s is the operator's own Secret; write another name, or none for %s", SystemSecret(c), c.Name)
	}
	return nil
}

func checkSettings(c *redisv1alpha1.RedisEnterpriseCluster) error {
	const clients = "maxclients"
	if value := c.Spec.RedisConfig[clients]; locksOut(clients, value) {
		return fmt.Errorf("redisConfig: %s: %s is too few for replicas, agent and operator beside your clients; write %d or more", clients, value, minClients)
	}
	if own := Settings(c, Forbidden); len(own) > 0 {
		return fmt.Errorf("redisConfig: %s: only the operator sets that", strings.Join(SortedKeys(own), ", "))
	}
	return nil
}

// SideContainers are the containers of the spec that can be read, also while the spec as a whole is invalid.
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

// maxImage is the length of an image, as the CRDs limit it in fields for images. Each cached pod repeats the image.
const maxImage = 512

// sideContainers parses the containers of the spec, which the CRD does not validate.
func sideContainers(asked []common.Container) ([]corev1.Container, error) {
	var out []corev1.Container
	for i, text := range asked {
		var side corev1.Container
		decoder := json.NewDecoder(strings.NewReader(text.JSON()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&side); err != nil {
			return nil, fmt.Errorf("sideContainersSpec[%d]: no container of a pod: %w", i, err)
		}
		if slices.Contains([]string{"", HomeContainer, GuestContainer, AgentContainer}, side.Name) {
			return nil, fmt.Errorf("sideContainersSpec[%d].name: give it a name other than %s, %s and %s", i, HomeContainer, GuestContainer, AgentContainer)
		}
		if len(side.Image) > maxImage {
			return nil, fmt.Errorf("sideContainersSpec[%d].image: it has %d characters, and an image has at most %d; write a shorter one", i, len(side.Image), maxImage)
		}
		out = append(out, side)
	}
	return out, nil
}
