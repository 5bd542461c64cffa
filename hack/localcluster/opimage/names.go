// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package opimage

import (
	"fmt"
	"strings"

	"github.com/distribution/reference"
)

// The default names of opcrew's three images in the manifests in config, and the Makefile variables for these names. No
// one can register the domain "invalid" (RFC 2606). So a cluster that lacks the images cannot pull images that another
// publisher pushed under these names.
const (
	defaultOperator = "opcrew.invalid/opcrew:dev"
	defaultAgent    = "opcrew.invalid/opcrew-agent:dev"
	defaultBackup   = "opcrew.invalid/opcrew-backup:dev"

	operatorVariable = "IMG"
	agentVariable    = "AGENT_IMG"
	backupVariable   = "BACKUP_IMG"
)

// Images holds the names of opcrew's three images, each with a tag or a digest.
type Images struct {
	Operator, Agent, Backup string
}

// Named returns the names of the three images. If agent or backup is empty, Named derives the name from the operator's
// name by adding -agent or -backup to the last part of the path. If a name has no tag, Named adds :latest, as Docker
// does. Named fails for invalid names, for two equal names, and if it would have to derive a name from a digest.
func Named(operator, agent, backup string) (Images, error) {
	of, err := parse(operatorVariable, operator)
	if err != nil {
		return Images{}, err
	}
	images := Images{Operator: of.String()}
	if images.Agent, err = named(agentVariable, agent, of, "-agent"); err != nil {
		return Images{}, err
	}
	if images.Backup, err = named(backupVariable, backup, of, "-backup"); err != nil {
		return Images{}, err
	}
	return images, images.distinct()
}

// named returns the value of given. If given is empty, named derives a name from the name of the operator's image.
func named(variable, given string, of typed, suffix string) (string, error) {
	if given == "" && of.digest != "" {
		return "", fmt.Errorf("%s=%s names a digest, from which the digests of the other images cannot be derived: give %s and %s too, as make docker-push prints them",
			operatorVariable, of, agentVariable, backupVariable)
	}
	if given == "" {
		given = typed{of.path + suffix, of.tag, ""}.String()
	}
	parsed, err := parse(variable, given)
	return parsed.String(), err
}

// typed is an image name as the user typed it, split into parts.
type typed struct {
	// path contains the registry and the repository. At least one of tag and digest is empty.
	path, tag, digest string
}

func (n typed) String() string {
	out := n.path
	if n.tag != "" {
		out += ":" + n.tag
	}
	if n.digest != "" {
		out += "@" + n.digest
	}
	return out
}

// parse splits a name by Docker's rules, and adds the default tag as Docker does.
func parse(variable, text string) (typed, error) {
	ref, err := reference.ParseNormalizedNamed(text)
	if err != nil {
		return typed{}, fmt.Errorf("%s=%s is not a name that container tools accept: %w; write it as [registry[:port]/]path[:tag], in lower case", variable, text, err)
	}
	out := typed{path: text}
	if digested, ok := ref.(reference.Digested); ok {
		out.digest = digested.Digest().String()
		out.path = strings.TrimSuffix(out.path, "@"+out.digest)
	}
	if tagged, ok := ref.(reference.Tagged); ok {
		out.tag = tagged.Tag()
		out.path = strings.TrimSuffix(out.path, ":"+out.tag)
	}
	if out.tag == "" && out.digest == "" {
		out.tag = "latest"
	}
	return out, nil
}

// distinct returns an error if two images have the same name, because the second push would replace the first.
func (i Images) distinct() error {
	seen := map[string]string{}
	for _, image := range i.list() {
		ref, err := reference.ParseNormalizedNamed(image.name)
		if err != nil {
			return err
		}
		if other, taken := seen[ref.String()]; taken {
			return fmt.Errorf("%s and %s are both %s, but three images need three names; leave out %s and %s to derive them from %s",
				other, image.variable, image.name, agentVariable, backupVariable, operatorVariable)
		}
		seen[ref.String()] = image.variable
	}
	return nil
}

// Buildable returns an error if an image is named by a digest, because the digest is only known once the image is
// built.
func (i Images) Buildable() error {
	for _, image := range i.list() {
		parsed, err := parse(image.variable, image.name)
		if err != nil {
			return err
		}
		if parsed.digest == "" {
			continue
		}
		tagged := typed{parsed.path, parsed.tag, ""}
		if tagged.tag == "" {
			tagged.tag = "v1"
		}
		return fmt.Errorf("%s=%s: an image cannot be built or pushed under a digest, because it gets its digest when it is built; write %s=%s, and deploy with the digest that make docker-push prints",
			image.variable, image.name, image.variable, tagged)
	}
	return nil
}

// localPaths are prefixes of image names. Images with these names are loaded into the local cluster's nodes, and never
// pulled or pushed.
var localPaths = []string{"opcrew.invalid/", "opcrew/"}

// Local reports whether an image is meant for the nodes of the local cluster. Such an image has one of the project's
// own names, and the tag dev or a tag that begins with dev-.
func Local(image string) bool {
	parsed, err := parse("", image)
	if err != nil || parsed.digest != "" || parsed.tag != "dev" && !strings.HasPrefix(parsed.tag, "dev-") {
		return false
	}
	for _, p := range (Images{}).list() {
		for _, path := range localPaths {
			if parsed.path == path+p.program {
				return true
			}
		}
	}
	return false
}
