// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
)

// images are what pods are made of where the spec has nothing else.
type images struct {
	// helper is that of the in-pod helper, redis that of the servers.
	helper, redis string
}

// reading is what a spec comes to: defaults filled in, and what is loosely typed read.
type reading struct {
	helper string
	image  image
	// each are the resources of each of the two servers of a pod, volume the size of its claim.
	each   corev1.ResourceRequirements
	volume resource.Quantity
	side   []corev1.Container
	// notes tell what was read otherwise than it was written.
	notes []string
}

// read reads a spec. The error names all that cannot be, and what to write instead.
func read(c *redisv1alpha1.RedisEnterpriseCluster, from images) (reading, error) {
	pod, notes, badResources := resources(&c.Spec)
	img, badImage := imageOf(&c.Spec, from.redis)
	side, badSide := sideContainers(c.Spec.SideContainersSpec)
	out := reading{
		helper: from.helper, image: img, each: half(pod), volume: volumeSize(&c.Spec, pod), side: side, notes: notes,
	}
	if p := c.Spec.PersistentSpec; p != nil {
		out.notes = append(out.notes, normalized("persistentSpec.volumeSize", p.VolumeSize)...)
	}
	out.notes = append(out.notes, normalized("slotMigrationRate", c.Spec.SlotMigrationRate)...)
	return out, errors.Join(badResources, badImage, badSide, badVersion(c), badHibernation(c), badSecret(c), badSettings(c))
}

// badHibernation is what the CRD cannot see: enabled can be text.
func badHibernation(c *redisv1alpha1.RedisEnterpriseCluster) error {
	if c.Spec.Hibernate && !persistent(c) {
		return errors.New("hibernate: a cluster without volumes would lose all of its data; make one with persistentSpec: {enabled: true}")
	}
	return nil
}

func badSecret(c *redisv1alpha1.RedisEnterpriseCluster) error {
	if ownsUserSecret(c) {
		return fmt.Errorf("clusterCredentialSecretName: %s is the operator's own Secret; write another name, or none for %s", systemSecret(c), c.Name)
	}
	return nil
}

func badSettings(c *redisv1alpha1.RedisEnterpriseCluster) error {
	const clients = "maxclients"
	if value := c.Spec.RedisConfig[clients]; locksOut(clients, value) {
		return fmt.Errorf("redisConfig: %s: %s is too few for replicas, agent and operator beside your clients; write %d or more", clients, value, fewestClients)
	}
	if own := settings(c, forbidden); len(own) > 0 {
		return fmt.Errorf("redisConfig: %s: that is the operator's own to say", strings.Join(sortedKeys(own), ", "))
	}
	return nil
}

// sideContainers reads those of the spec, in which nothing was looked at yet.
func sideContainers(asked []redisv1alpha1.SideContainer) ([]corev1.Container, error) {
	var out []corev1.Container
	for i, text := range asked {
		var side corev1.Container
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&side); err != nil {
			return nil, fmt.Errorf("sideContainersSpec[%d]: no container of a pod: %w", i, err)
		}
		if slices.Contains([]string{"", homeContainer, guestContainer, agentContainer}, side.Name) {
			return nil, fmt.Errorf("sideContainersSpec[%d].name: give it a name other than %s, %s and %s", i, homeContainer, guestContainer, agentContainer)
		}
		out = append(out, side)
	}
	return out, nil
}
