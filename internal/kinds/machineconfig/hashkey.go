// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/changes"
)

const (
	// keyField is the data field of a Secret that holds a hash key. With this key, opcrew hashes secret data.
	keyField = "key"
	// keyNamespace has the Secrets with keys. They are not in the namespace of the configurations, because each machine
	// agent can read all Secrets there, and could guess short secrets with a key.
	keyNamespace = "opcrew-machine-keys"
	// keyPrefix is the prefix of the names of the Secrets that hold keys.
	keyPrefix = "hash-key-"
)

func keyName(pool *mcfgv1.MachineConfigPool) string { return keyPrefix + pool.Name }

// isKey reports whether an object is the key of a pool.
func isKey(pool *mcfgv1.MachineConfigPool, object client.Object) bool {
	return object.GetNamespace() == keyNamespace && object.GetName() == keyName(pool)
}

// keySecret declares the key for hashes of secret data. Of opcrew's accounts, only the operator's can read it.
func keySecret(pool *mcfgv1.MachineConfigPool, key []byte) *corev1ac.SecretApplyConfiguration {
	return corev1ac.Secret(keyName(pool), keyNamespace).
		WithType(corev1.SecretTypeOpaque).WithImmutable(true).WithData(map[string][]byte{keyField: key})
}

// key returns the key for hashes of secret data; nil if it does not exist yet. A Secret that someone else created may
// have an empty one.
func (r *poolReconciler) key(ctx context.Context, pool *mcfgv1.MachineConfigPool) ([]byte, error) {
	secret := &corev1.Secret{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: keyNamespace, Name: keyName(pool)}, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Secret %s: %w", keyName(pool), err)
	}
	return append([]byte{}, secret.Data[keyField]...), nil
}

// takeKey makes a key if there is none, and reports one that cannot be used.
func (r *rendering) takeKey(pool *mcfgv1.MachineConfigPool, key *[]byte) {
	switch {
	case *key == nil:
		*key, r.newKey = newKey(), true
	case !isUsable(*key):
		r.problem = &problem{common.ReasonNameTaken, fmt.Sprintf("Secret %s has no key for hashes of %d bytes, so opcrew did not create it: "+
			"delete Secret %s in namespace %s, and opcrew creates another one", keyName(pool), sha256.Size, keyName(pool), keyNamespace)}
	}
}

func isUsable(key []byte) bool { return len(key) == sha256.Size }

func newKey() []byte {
	out := make([]byte, sha256.Size)
	_, _ = rand.Read(out) // never fails
	return out
}

// hashWith returns the hash of secret data, by which no one without the key can guess short secrets.
func hashWith(key []byte) func([]byte) string {
	return func(data []byte) string {
		mac := hmac.New(sha256.New, key)
		mac.Write(data)
		return hex.EncodeToString(mac.Sum(nil))
	}
}

// publicDigest returns hashes for the status. The hash of content from a Secret depends on a key; without one, anyone
// could guess short contents, so there is no hash.
func publicDigest(key []byte, secret ...map[string]bool) changes.Digest {
	return func(path string, content []byte) string {
		for _, paths := range secret {
			if paths[path] {
				return secretDigest(key, content)
			}
		}
		return changes.SHA256(path, content)
	}
}

func secretDigest(key, content []byte) string {
	if !isUsable(key) {
		return "secret"
	}
	return "secret-" + hashWith(key)(content)[:16]
}
