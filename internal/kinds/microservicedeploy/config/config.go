// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package config reads the configuration of an instance and declares it as an object, variables and files. Package
// revisions decides which configuration runs.
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

// Dir is where the configuration is mounted. It has a file for each key, and File, which has the whole text.
const (
	Dir  = "/etc/microservice"
	File = "config.properties"
)

// Config is the configuration that pods run with: an object of ours, or a user's Secret.
type Config struct {
	Name   string
	Secret bool
	// Keys are the keys that become environment variables.
	Keys []string
	// Hash identifies the content, as a user's Secret can change without a new name.
	Hash string
}

var (
	fileName = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)
	variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// secretive matches keys that look like those of credentials.
	secretive = regexp.MustCompile(`(?i)(pass(word|wd|phrase)?|pwd|secret|token|api[-_.]?key|(access|private|secret)[-_.]?key|credential)s?$`)
)

// Parse reads lines of key=value. Blank lines, and lines that begin with # or !, are comments. Lines without = are only
// part of the whole text. If a key occurs twice, the last line wins.
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

// IgnoredLines returns the numbers of the lines that are neither key=value nor comments. It returns none if no line is
// key=value, as such a text is meant to be read as a whole.
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

// isKey reports whether Kubernetes accepts a key, which becomes the name of a file.
func isKey(key string) bool {
	return fileName.MatchString(key) && key != File && key != "." && !strings.HasPrefix(key, "..")
}

// SecretKeys returns the keys in a text that look like those of credentials.
func SecretKeys(text string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(Parse(text))), func(key string) bool { return !secretive.MatchString(key) })
}

// Declared returns the configuration in the spec; nil if there is none.
func Declared(m *customv1.MicroServiceDeploy) *Config {
	if m.Spec.Config == "" {
		return nil
	}
	c := &Config{Secret: m.Spec.ConfigAs == customv1.ConfigAsSecret, Keys: Variables(Parse(m.Spec.Config))}
	// A ConfigMap and a Secret get different names, so that the ConfigMap is deleted once no revision names it.
	text := m.Spec.Config
	if c.Secret {
		text = "Secret\n" + text
	}
	sum := sha256.Sum256([]byte(text))
	c.Name = fmt.Sprintf("%s-config-%s", names.Child(m), hex.EncodeToString(sum[:5]))
	return c
}

// MaxVariables limits the environment. Pods are compared with their declaration by it, and with many thousand variables
// that would take many seconds.
const MaxVariables = 512

// Variables returns the keys that become environment variables, in order.
func Variables[V any](data map[string]V) []string {
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(data)), func(key string) bool { return !variable.MatchString(key) })
	return all[:min(len(all), MaxVariables)]
}

// Object declares the configuration as an object, which never changes. Another text gets another object, so that each
// pod keeps what it was started with.
func Object(m *customv1.MicroServiceDeploy, c *Config) runtime.ApplyConfiguration {
	data := Parse(m.Spec.Config)
	data[File] = m.Spec.Config
	if c.Secret {
		return corev1ac.Secret(c.Name, m.Namespace).WithLabels(names.Identity(m).Labels).WithImmutable(true).WithData(Bytes(data))
	}
	return corev1ac.ConfigMap(c.Name, m.Namespace).WithLabels(names.Identity(m).Labels).WithImmutable(true).WithData(data)
}

// Bytes converts the data of a ConfigMap to the data of a Secret.
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

// Env returns the configuration as environment variables.
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

// HashOf returns a hash of the data that does not depend on the order of keys.
func HashOf(data map[string][]byte) string {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(data)) {
		fmt.Fprintf(h, "%q=%q\n", key, data[key])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
