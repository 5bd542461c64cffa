// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/netip"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/opcrew/opcrew/hack/localcluster/pki"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// metricsPort is the port on which metrics-server listens. No other process of the control plane uses it.
const metricsPort = "4443"

// metricsServer provides metrics for `kubectl top` and autoscalers, through the API server.
func metricsServer(st *state.State, api *applier) addon {
	const name = "metrics-server"
	return addon{
		name: name,
		prepare: func() (map[string]string, error) {
			ca, err := servingPair(st, name)
			values := map[string]string{"Server": st.ControlPlane.Address.String(), "Port": metricsPort}
			values["CA"] = base64.StdEncoding.EncodeToString(ca)
			return values, err
		},
		args: []string{
			st.Binary(Program), "metrics-server",
			"--kubeconfig=" + kubeconfig(st, name),
			"--authentication-kubeconfig=" + kubeconfig(st, name),
			"--authorization-kubeconfig=" + kubeconfig(st, name),
			"--bind-address=" + st.ControlPlane.Address.String(),
			"--secure-port=" + metricsPort,
			"--tls-cert-file=" + file(st, name, "serving.crt"),
			"--tls-private-key-file=" + file(st, name, "serving.key"),
			"--kubelet-preferred-address-types=InternalIP",
			"--kubelet-certificate-authority=" + pki.File(st, pki.ClusterAuthority, ".crt"),
			// 10s is the shortest interval that metrics-server allows. With it, autoscalers react soon.
			"--metric-resolution=10s",
			"--kubelet-request-timeout=5s",
		},
		ready: api.metricsAvailable,
	}
}

// servingPair creates the certificate that metrics-server serves to the API server. It returns the certificate of the
// authority, which the APIService must contain.
func servingPair(st *state.State, name string) ([]byte, error) {
	ca, err := pki.LoadAuthority(st.PKIDir(), pki.ClusterAuthority)
	if err != nil {
		return nil, err
	}
	pair, err := ca.Issue(pki.Subject{
		Name:      name,
		Names:     []string{"metrics-server.kube-system.svc"},
		Addresses: []netip.Addr{st.ControlPlane.Address},
	})
	if err != nil {
		return nil, err
	}
	return ca.Cert, pair.Write(filepath.Dir(file(st, name, "serving.crt")), "serving")
}

// metricsAvailable returns an error until the API server reaches metrics-server. Until then, clients that list all
// kinds of resources get errors.
func (a *applier) metricsAvailable(ctx context.Context) error {
	services := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	object, err := a.client.Resource(services).Get(ctx, "v1beta1.metrics.k8s.io", metav1.GetOptions{})
	if err != nil {
		return err
	}
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	if err != nil {
		return err
	}
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		if condition["type"] == "Available" && condition["status"] == "True" {
			return nil
		}
	}
	return fmt.Errorf("the API server does not reach metrics-server: %v", conditions)
}
