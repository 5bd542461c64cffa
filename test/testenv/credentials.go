// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
)

// Users whom the server knows from its token file. All other users are ServiceAccounts or are impersonated.
const (
	// AdminUser is the user of Env.Client. It has all rights.
	AdminUser = "admin"
	// KwokUser is the user of the simulated kubelets.
	KwokUser = "kwok"

	controllersUser = "system:kube-controller-manager"
	schedulerUser   = "system:kube-scheduler"
)

// credentials contains the certificates and tokens with which the processes authenticate to each other. Their files are
// in the environment's directory.
type credentials struct {
	dir    string
	ca     []byte
	tokens map[string]string
}

func newCredentials(dir string) (*credentials, error) {
	c := &credentials{dir: dir, tokens: map[string]string{}}
	if err := c.writeServingCertificate(); err != nil {
		return nil, fmt.Errorf("making the server's certificate: %w", err)
	}
	if err := c.writeServiceAccountKey(); err != nil {
		return nil, fmt.Errorf("making the key of service account tokens: %w", err)
	}
	if err := c.writeTokens(); err != nil {
		return nil, fmt.Errorf("making the users' tokens: %w", err)
	}
	return c, nil
}

func (c *credentials) path(name string) string { return filepath.Join(c.dir, name) }

func (c *credentials) write(name string, content []byte) error {
	return os.WriteFile(c.path(name), content, 0o600)
}

func (c *credentials) writeServingCertificate() error {
	chain, key, err := cert.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return err
	}
	c.ca = chain // the chain includes the CA certificate
	if err := c.write("serving.crt", chain); err != nil {
		return err
	}
	return c.write("serving.key", key)
}

func (c *credentials) writeServiceAccountKey() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return c.write("serviceaccounts.key", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}

// writeTokens writes the server's static token file. The user names of the control plane's components are those to
// which Kubernetes binds roles by default.
func (c *credentials) writeTokens() error {
	var table strings.Builder
	for _, u := range []struct{ name, group string }{
		{AdminUser, "system:masters"},
		{KwokUser, "system:masters"},
		{controllersUser, "system:authenticated"},
		{schedulerUser, "system:authenticated"},
	} {
		c.tokens[u.name] = rand.Text()
		fmt.Fprintf(&table, "%s,%s,%s,%s\n", c.tokens[u.name], u.name, u.name, u.group)
	}
	return c.write("tokens.csv", []byte(table.String()))
}

// restConfig returns the client configuration of a user. It sets no rate limit, so that tests wait only for the server.
func (c *credentials) restConfig(host, user string) *rest.Config {
	return &rest.Config{
		Host:            host,
		BearerToken:     c.tokens[user],
		TLSClientConfig: rest.TLSClientConfig{CAData: c.ca},
		QPS:             -1,
	}
}

// kubeconfig writes the client configuration of a user to a file for child processes and kubectl. It returns the file's
// path.
func (c *credentials) kubeconfig(host, user string) (string, error) {
	file := c.path(strings.ReplaceAll(user, ":", "-") + ".kubeconfig")
	config := clientcmdapi.NewConfig()
	config.Clusters["testenv"] = &clientcmdapi.Cluster{Server: host, CertificateAuthorityData: c.ca}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: c.tokens[user]}
	config.Contexts["testenv"] = &clientcmdapi.Context{Cluster: "testenv", AuthInfo: user}
	config.CurrentContext = "testenv"
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		return "", fmt.Errorf("writing the kubeconfig of %s: %w", user, err)
	}
	return file, nil
}
