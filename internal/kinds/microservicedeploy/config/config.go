// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package config reads the configuration of an instance and declares it: an object of its own, variables and files. Which
// configuration runs is decided in package revisions.
package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	customv1 "github.com/opcrew/opcrew/api/custom/v1"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy/names"
)

// Dir is where the configuration is mounted: a file for each key, and the whole of
// it as configFile.
const (
	Dir  = "/etc/microservice"
	File = "config.properties"
)

// Config is the configuration that pods run with: an object of ours, or a user's Secret.
type Config struct {
	Name   string
	Secret bool
	// Keys are those that become variables of the environment.
	Keys []string
	// Hash differs between contents where the name does not.
	Hash string
}

var (
	fileName = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)
	variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// secretive are keys that look like those of credentials.
	secretive = regexp.MustCompile(`(?i)(pass(word|wd|phrase)?|pwd|secret|token|api[-_.]?key|(access|private|secret)[-_.]?key|credential)s?$`)
)

// Parse reads lines of key=value. Blank lines and those that begin with # or ! are
// comments; what has no = is kept in the whole text only. If a key occurs twice, the
// last line counts.
func Parse(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		if ok && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "!") && isKey(key) {
			out[key] = strings.TrimSpace(value)
		}
	}
	return out
}

// IgnoredLines are the numbers of the lines that are neither key=value nor comments, in a text
// that has such: one that has none is meant to be read whole.
func IgnoredLines(text string) []string {
	var out []string
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		key, _, ok := strings.Cut(line, "=")
		if line != "" && line[0] != '#' && line[0] != '!' && (!ok || !isKey(strings.TrimSpace(key))) {
			out = append(out, fmt.Sprint(number))
		}
	}
	if len(Parse(text)) == 0 {
		return nil
	}
	return out
}

// isKey reports whether Kubernetes takes a key: it becomes the name of a file.
func isKey(key string) bool {
	return fileName.MatchString(key) && key != File && key != "." && !strings.HasPrefix(key, "..")
}

// SecretKeys names the keys of a text that look like those of credentials.
func SecretKeys(text string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(Parse(text))), func(key string) bool { return !secretive.MatchString(key) })
}

// Declared is the configuration of the spec, nil if there is none.
func Declared(m *customv1.MicroServiceDeploy) *Config {
	if m.Spec.Config == "" {
		return nil
	}
	c := &Config{Secret: m.Spec.ConfigAs == customv1.ConfigAsSecret, Keys: Variables(Parse(m.Spec.Config))}
	// Another kind is another name: the ConfigMap goes when no revision names it any more.
	text := m.Spec.Config
	if c.Secret {
		text = "Secret\n" + text
	}
	sum := sha256.Sum256([]byte(text))
	c.Name = fmt.Sprintf("%s-config-%s", names.Child(m), hex.EncodeToString(sum[:5]))
	return c
}

// MaxVariables bounds the environment, by which pods are compared with what is declared:
// with many thousands that takes as many seconds.
const MaxVariables = 512

// Variables are the keys that become part of the environment, in their order.
func Variables[V any](data map[string]V) []string {
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(data)), func(key string) bool { return !variable.MatchString(key) })
	return all[:min(len(all), MaxVariables)]
}

// Object is the configuration as an object, which never changes: another text is
// another object, so that each pod keeps what it was started with.
func Object(m *customv1.MicroServiceDeploy, c *Config) runtime.ApplyConfiguration {
	data := Parse(m.Spec.Config)
	data[File] = m.Spec.Config
	if c.Secret {
		return corev1ac.Secret(c.Name, m.Namespace).WithLabels(names.Identity(m).Labels).WithImmutable(true).WithData(Bytes(data))
	}
	return corev1ac.ConfigMap(c.Name, m.Namespace).WithLabels(names.Identity(m).Labels).WithImmutable(true).WithData(data)
}

// Bytes converts the data of a ConfigMap to that of a Secret.
func Bytes(data map[string]string) map[string][]byte {
	out := map[string][]byte{}
	for key, value := range data {
		out[key] = []byte(value)
	}
	return out
}

// Volume mounts the configuration.
func (c *Config) Volume() *corev1ac.VolumeApplyConfiguration {
	if c.Secret {
		return corev1ac.Volume().WithName("config").WithSecret(corev1ac.SecretVolumeSource().WithSecretName(c.Name))
	}
	return corev1ac.Volume().WithName("config").WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(c.Name))
}

// Env is the configuration as environment.
func (c *Config) Env() []*corev1ac.EnvVarApplyConfiguration {
	var out []*corev1ac.EnvVarApplyConfiguration
	for _, key := range c.Keys {
		from := corev1ac.EnvVarSource()
		if c.Secret {
			from.WithSecretKeyRef(corev1ac.SecretKeySelector().WithName(c.Name).WithKey(key))
		} else {
			from.WithConfigMapKeyRef(corev1ac.ConfigMapKeySelector().WithName(c.Name).WithKey(key))
		}
		out = append(out, corev1ac.EnvVar().WithName(key).WithValueFrom(from))
	}
	return out
}

// HashOf is a hash of the data that does not depend on the order of keys.
func HashOf(data map[string][]byte) string {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(data)) {
		fmt.Fprintf(h, "%q=%q\n", key, data[key])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
