// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

// Values returns the data of a key of a Secret; ok is false if the Secret or the key does not exist.
type Values func(SecretKey) (data []byte, ok bool)

// Digest returns a hash of secret data for the name of a configuration. It should depend on a key that only the
// operator knows, because anyone who can read a plain hash of a short secret can guess the secret.
type Digest func(data []byte) string

// Complete returns the configuration of the pool's hosts with the data of Secrets, named by its content, and its
// encoding. The error is of type Problems.
func (r *Rendered) Complete(pool string, values Values, digest Digest) (hostconfig.Config, []byte, error) {
	n := &notes{}
	full, public := r.host, r.host
	full.Files, public.Files = copyFiles(r.host.Files), copyFiles(r.host.Files)
	left := MaxUnpacked
	for _, use := range r.Secrets {
		data := use.data(values, left, n)
		left -= len(data)
		use.put(full.Files, data)
		use.put(public.Files, []byte(digest(data)))
	}
	full.Name = name(pool, public)
	if n.failed() {
		return hostconfig.Config{}, nil, n.err()
	}
	if len(r.Secrets) > 0 {
		full.Salt = digest([]byte("salt of " + full.Name))
	}
	encoded := encodeHost(full, len(r.Secrets) > 0, n)
	return full, encoded, n.err()
}

// encodeHost checks a configuration as a host would, and encodes it.
func encodeHost(full hostconfig.Config, secrets bool, n *notes) []byte {
	if err := full.Check(); err != nil {
		n.invalid(configField, "%v", err)
		return nil
	}
	encoded, err := hostconfig.Encode(full)
	switch {
	case err != nil && secrets: // the size would tell the size of the data
		n.add(TooLarge, "spec", "the configuration with the data of its Secrets is too large: put large files into the image of the machine")
	case err != nil:
		n.add(TooLarge, "spec", "%v", err)
	}
	return encoded
}

// data returns the unpacked data of a Secret. More users can read the message than may read the Secret, so it is the
// same whatever the data is.
func (u SecretUse) data(values Values, limit int, n *notes) []byte {
	data, ok := values(u.SecretKey)
	if !ok {
		n.add(Missing, u.Field+".source", "Secret %s in namespace %s, or its key %s, does not exist: create it, or correct the reference", u.Name, u.Namespace, u.Key)
		return nil
	}
	out, err := unpack(data, u.resource, limit)
	if err != nil {
		n.invalid(u.Field, "the data of %s cannot be used: it must have the format in compression and the hash in verification.hash, if they are set, and all data of Secrets at most %d bytes",
			u.SecretKey, MaxUnpacked)
	}
	return out
}

// put sets the contents of the file, or an item of its list append.
func (u SecretUse) put(files []hostconfig.File, data []byte) {
	i := slices.IndexFunc(files, func(f hostconfig.File) bool { return f.Path == u.Path })
	if u.Append >= 0 {
		files[i].Append[u.Append] = data
		return
	}
	files[i].Contents = &data
}

func copyFiles(files []hostconfig.File) []hostconfig.File {
	out := slices.Clone(files)
	for i := range out {
		out[i].Append = slices.Clone(out[i].Append)
	}
	return out
}

// hashBytes is how many bytes of the hash are in the name of a configuration. OpenShift's names have as many.
const hashBytes = 16

// IsName reports whether a name is one that Complete gives to configurations of a pool. Names for pool worker-gpu also
// begin with rendered-worker-, so the length of the rest counts.
func IsName(pool, name string) bool {
	hash, found := strings.CutPrefix(name, "rendered-"+pool+"-")
	return found && len(hash) == 2*hashBytes && strings.Trim(hash, "0123456789abcdef") == ""
}

// IsEmpty reports whether a name is that of a configuration that declares nothing, of any pool. A host with it is as it
// was before opcrew changed it.
func IsEmpty(configuration string) bool {
	return strings.HasPrefix(configuration, "rendered-") && strings.HasSuffix(configuration, name("", hostconfig.Config{})[len("rendered-"):])
}

// name returns the name of a configuration: rendered-<pool>-<hash of its content>.
func name(pool string, config hostconfig.Config) string {
	config.Name = ""
	raw, err := marshal(config)
	if err != nil {
		panic("a configuration cannot be encoded: " + err.Error())
	}
	sum := sha256.Sum256(raw)
	return fmt.Sprintf("rendered-%s-%s", pool, hex.EncodeToString(sum[:hashBytes]))
}
