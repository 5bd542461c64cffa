// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// Server returns the URL of the API server. The URL is the same for this host, nodes and pods.
func Server(st *state.State) string {
	return fmt.Sprintf("https://%v:6443", st.ControlPlane.Address)
}

// ClientKubeconfig writes a kubeconfig with a new certificate for a user.
func ClientKubeconfig(st *state.State, path, user string, groups ...string) error {
	ca, err := LoadAuthority(st.PKIDir(), ClusterAuthority)
	if err != nil {
		return err
	}
	pair, err := ca.Issue(Subject{Name: user, Groups: groups})
	if err != nil {
		return err
	}
	return state.WriteFile(path, renderKubeconfig(Server(st), user, ca.Cert, pair), 0o600)
}

func renderKubeconfig(server, user string, ca []byte, pair Pair) []byte {
	b64 := base64.StdEncoding.EncodeToString
	return []byte(strings.NewReplacer(
		"SERVER", server, "USER", user, "CA", b64(ca), "CERT", b64(pair.Cert), "KEY", b64(pair.Key),
	).Replace(`apiVersion: v1
kind: Config
current-context: opcrew-local
clusters:
- name: opcrew-local
  cluster:
    server: SERVER
    certificate-authority-data: CA
users:
- name: USER
  user:
    client-certificate-data: CERT
    client-key-data: KEY
contexts:
- name: opcrew-local
  context:
    cluster: opcrew-local
    user: USER
`))
}
