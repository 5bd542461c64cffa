// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package config parses the configuration of a MicroServiceDeploy and declares it as an object, as environment
// variables and as files. Package revisions decides which configuration the pods use.
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

// Dir is the folder in which the configuration is mounted. It has one file for each key, and one file, named by File,
// with the whole text.
const (
	Dir  = "/etc/microservice"
	File = "config.properties"
)

// Config is the configuration of pods: an object that opcrew created, or a Secret of the user.
type Config struct {
	Name   string
	Secret bool
	// Keys are the keys of the configuration that become environment variables.
	Keys []string
	// Hash is a hash of the content of a user's Secret. The content can change while the Secret keeps its name.
	Hash string
}

var (
	fileName = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)
	variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// secretive matches keys that look like names of credentials.
	secretive = regexp.MustCompile(`(?i)(pass(word|wd|phrase)?|pwd|secret|token|api[-_.]?key|(access|private|secret)[-_.]?key|credential)s?$`)
)

// Parse parses lines of the form key=value. It ignores blank lines and lines that begin with # or !. It also leaves out
// other lines without = or without a valid key; pods find them only in config.properties, which has the whole text. If
// a key occurs twice, the last line wins.
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

// IgnoredLines returns the numbers of the lines that are neither key=value nor comments. If no line is key=value, it
// returns no numbers: the application then presumably reads the whole text as a file.
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

// isKey reports whether Kubernetes accepts a key, which becomes a file name.
func isKey(key string) bool {
	return fileName.MatchString(key) && key != File && key != "." && !strings.HasPrefix(key, "..")
}

// SecretKeys returns the keys in a configuration text that look like names of credentials.
func SecretKeys(text string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(Parse(text))), func(key string) bool { return !secretive.MatchString(key) })
}

// Declared returns the configuration in spec.config; nil if there is none.
func Declared(m *customv1.MicroServiceDeploy) *Config {
	if m.Spec.Config == "" {
		return nil
	}
	c := &Config{Secret: m.Spec.ConfigAs == customv1.ConfigAsSecret, Keys: Variables(Parse(m.Spec.Config))}
	// The name also depends on the kind of the object (ConfigMap or Secret). When the kind changes, the object of the
	// old kind is deleted as soon as no revision uses its name.
	text := m.Spec.Config
	if c.Secret {
		text = "Secret\n" + text
	}
	sum := sha256.Sum256([]byte(text))
	c.Name = fmt.Sprintf("%s-config-%s", names.Child(m), hex.EncodeToString(sum[:5]))
	return c
}

// MaxVariables limits the number of environment variables. opcrew compares each pod with its declaration, which would
// take many seconds with many thousand variables.
const MaxVariables = 512

// Variables returns the keys that can become environment variables, sorted, and at most MaxVariables of them.
func Variables[V any](data map[string]V) []string {
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(data)), func(key string) bool { return !variable.MatchString(key) })
	return all[:min(len(all), MaxVariables)]
}

// Object declares the immutable object with the configuration. A different text is stored in a new object, so that
// running pods keep the configuration with which they started.
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

// Volume declares the volume with the configuration.
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

// HashOf returns a hash of the data that does not depend on the order of the keys.
func HashOf(data map[string][]byte) string {
	h := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(data)) {
		fmt.Fprintf(h, "%q=%q\n", key, data[key])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
