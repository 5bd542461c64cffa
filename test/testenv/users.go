// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"context"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const serviceAccountPrefix = "system:serviceaccount:"

// ServiceAccountUser returns the user name of a ServiceAccount, under which its requests are authorized and counted.
func ServiceAccountUser(namespace, name string) string {
	return serviceAccountPrefix + namespace + ":" + name
}

// ConfigAs returns a client configuration that impersonates a user, to test roles. The user need not exist. For a
// ServiceAccount without groups, the API server adds the groups of ServiceAccounts. To measure times, use TokenConfig,
// because tokens are authenticated as in production.
func (e *Env) ConfigAs(user string, groups ...string) *rest.Config {
	config := rest.CopyConfig(e.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return config
}

// TokenConfig returns the client configuration of a ServiceAccount with a token. It creates the account and its
// namespace if they do not exist.
func (e *Env) TokenConfig(t testing.TB, namespace, name string) *rest.Config {
	t.Helper()
	ns := &corev1.Namespace{}
	ns.Name = namespace
	account := &corev1.ServiceAccount{}
	account.Namespace, account.Name = namespace, name
	for _, obj := range []client.Object{ns, account} {
		if err := e.Client.Create(t.Context(), obj); client.IgnoreAlreadyExists(err) != nil {
			t.Fatalf("creating %T %s: %v", obj, obj.GetName(), err)
		}
	}
	request := &authenticationv1.TokenRequest{}
	if err := e.Client.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatalf("getting a token for %s: %v", ServiceAccountUser(namespace, name), err)
	}
	config := rest.CopyConfig(e.Config)
	config.BearerToken = request.Status.Token
	return config
}

// ClientFor returns a client for a configuration from ConfigAs or TokenConfig.
func (e *Env) ClientFor(t testing.TB, config *rest.Config) client.WithWatch {
	t.Helper()
	c, err := client.NewWithWatch(config, client.Options{Scheme: e.opts.Scheme})
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	return c
}

// Namespace creates a namespace whose name is derived from the test's name. It deletes the namespace when the test
// ends, without waiting for the deletion.
func (e *Env) Namespace(t testing.TB) string {
	t.Helper()
	ns := &corev1.Namespace{}
	ns.GenerateName = dnsLabel(t.Name(), 40) + "-"
	if err := e.Client.Create(t.Context(), ns); err != nil {
		t.Fatalf("creating a namespace: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Client.Delete(withoutCancel(t), ns); client.IgnoreNotFound(err) != nil {
			t.Errorf("deleting namespace %s: %v", ns.Name, err)
		}
	})
	return ns.Name
}

// dnsLabel converts any text to a valid prefix of an object name.
func dnsLabel(text string, most int) string {
	clean := func(r rune) rune {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return '-'
		}
		return r
	}
	label := strings.Map(clean, strings.ToLower(text))
	return strings.Trim(label[:min(len(label), most)], "-")
}

// withoutCancel returns a context for cleanups, which run after the context of the test has ended.
func withoutCancel(t testing.TB) context.Context { return context.WithoutCancel(t.Context()) }
