// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redispods

import (
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/stores/redis"
	"github.com/opcrew/opcrew/internal/stores/redis/redissim"
)

// Cluster returns the name under which the fake Redis servers know a cluster.
func Cluster(namespace, name string) string { return namespace + "/" + name }

// process returns the fake server process for a container. It reads the container's flags.
func process(pod *corev1.Pod, in corev1.Container, place redisv1alpha1.Place, users map[string][]string) redissim.Process {
	limit, _ := strconv.ParseInt(flag(in, "memory-limit"), 10, 64) // 0 means no limit
	return redissim.Process{
		Cluster: Cluster(pod.Namespace, pod.Labels[redisv1alpha1.ClusterLabel]), Pod: string(pod.UID), Place: redis.Place(place),
		Address: net.JoinHostPort(pod.Status.PodIP, flag(in, "port")), Volume: volume(pod, place),
		Version: version(in.Image), MaxMemory: limit / 4 * 3, Users: users,
	}
}

func flag(of corev1.Container, name string) string {
	for _, arg := range of.Args {
		if value, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			return value
		}
	}
	return ""
}

// version returns the Redis version in the tag of an image.
func version(image string) redis.Version {
	name, tag := image, ""
	if at := strings.LastIndex(image, ":"); at > 0 {
		name, tag = image[:at], image[at+1:]
	}
	return redis.Version{Number: tag, Valkey: strings.Contains(name, "valkey")}
}

// volume returns the name of the data folder of one of the two servers in a pod.
func volume(pod *corev1.Pod, place redisv1alpha1.Place) string {
	if name := claim(pod); name != "" {
		return pod.Namespace + "/" + name + "/" + string(place)
	}
	return string(pod.UID) + "/" + string(place)
}

func claim(pod *corev1.Pod) string {
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			return v.PersistentVolumeClaim.ClaimName
		}
	}
	return ""
}

// handsOver reports whether a container has a preStop hook. The hook makes a server hand over to its replica before the
// pod stops.
func handsOver(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return c.Lifecycle != nil && c.Lifecycle.PreStop != nil
	})
}
